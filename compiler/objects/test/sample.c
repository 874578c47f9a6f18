/* An object for objects_test.cpp: code, constants, a call. */
float scale(float value);

static const float table[4] = {1, 2, 3, 4};

float look_up(int i) { return scale(table[i & 3]); }
