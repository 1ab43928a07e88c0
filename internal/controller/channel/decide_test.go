package channel

import "testing"

// TestDecide: what is done next depends on what was read alone.
func TestDecide(t *testing.T) {
	for _, test := range []struct {
		reason string
		situation
		want step
	}{
		{"nothing is due", situation{reported: true}, rest},
		{"a poll is due", situation{reported: true, due: true}, ask},
		{"a poll is under way, or has ended", situation{reported: true, busy: true, current: true}, ask},
		{"a poll for another specification", situation{reported: true, busy: true, due: true}, cancel},
		{"another number of followers", situation{}, report},
		{"the number of followers goes before a poll", situation{due: true}, report},
		{"a specification that cannot be understood is said", situation{invalid: true}, report},
		{"and leads to no poll", situation{invalid: true, reported: true, due: true}, rest},
		{"a poll of a Channel that was suspended", situation{suspended: true, busy: true, current: true}, cancel},
		{"a suspended Channel does not poll", situation{suspended: true, reported: true, due: true}, rest},
		{"a Channel that is being deleted says nothing", situation{deleted: true, due: true}, rest},
		{"and its poll ends", situation{deleted: true, busy: true, current: true}, cancel},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := decide(test.situation); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
