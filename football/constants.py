"""Physical constants that the simulator, the detectors and the camera share. SI units.

The ball's size and mass are within the Laws of the Game (Law 2: circumference 68 to 70 cm, 410 to 450 g).
"""

GRAVITY_M_S2 = 9.81
AIR_DENSITY_KG_M3 = 1.2
BALL_RADIUS_M = 0.11
BALL_MASS_KG = 0.43

#: The greatest speed of a ball: 150 km/h in paper 004.
BALL_SPEED_MAX_M_S = 42.0
#: A position of the ball that is farther than at this speed from the one before was not reached. Strikes beyond 42 m/s
#: happen, and the distance of two positions is wrong by the noise of both: a gate at 42 hid the strikes of 42 to 44.
BALL_STEP_MAX_M_S = 50.0
