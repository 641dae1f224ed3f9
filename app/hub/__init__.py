"""The hub: transport of the update stream from engine stages to the page, the camera and sinks."""
