package resourceversion

import "testing"

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		reason         string
		version, than  string
		older, atLeast bool
	}{
		{"versions are numbers", "9", "10", true, false},
		{"a newer one", "10", "9", false, true},
		{"the same", "10", "10", false, true},
		{"a number may have any length", "99999999999999999999999", "100000000000000000000000", true, false},
		{"an object that is not there is older than any", "", "1", true, false},
		{"any object is newer than one that is not there", "1", "", false, true},
		{"two that are not there are the same", "", "", false, true},
		{"of two that cannot be compared none is older, and none is certainly as new", "a", "b", false, false},
		{"one that cannot be compared is as new as itself", "a", "a", false, true},
		{"a number and another text cannot be compared", "a", "7", false, false},
		{"nor the other way round", "7", "a", false, false},
	} {
		if older, atLeast := Older(test.version, test.than), AtLeast(test.version, test.than); older != test.older || atLeast != test.atLeast {
			t.Errorf("%s: %q and %q: older %t, at least %t", test.reason, test.version, test.than, older, atLeast)
		}
	}
}
