"""What all rooms of the app stand on: logs, layers of settings, pace, Java, and which errors are told in a line."""
