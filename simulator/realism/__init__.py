"""Is a simulated match like a real one?"""
