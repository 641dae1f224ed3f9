"""The fast lane from engine stages to whoever looks on."""
