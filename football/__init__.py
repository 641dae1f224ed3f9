"""The domain: match sheet, pitch, packets, payloads, officials, recordings, and the records of the update stream."""
