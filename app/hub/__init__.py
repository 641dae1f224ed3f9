"""The hub: the update stream's way from engine stages to the page, the camera and topics."""
