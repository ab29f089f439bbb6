~Version
VERS. 2.0 : CWLS LOG ASCII STANDARD
WRAP. NO : ONE LINE PER STEP
~Well
NULL. -999.25 : MISSING
~Curve
TIME.S : 1 time
x.M : 2 block position
HKLD.KN : 3 hook load
~ASCII
 0  1.5  1000.5
 1  2.25  1100.25
 2  3.5  -999.25
 3  5.25  1450.75
 4  7.5  1700.5
 5  10.25  2000.25
