package syncplan

import (
	"encoding/base64"
	"fmt"
	"math"
	"testing"
	"time"
)

func token(issued, expires time.Time) string {
	claims := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"iat":%d,"exp":%d}`, issued.Unix(), expires.Unix()))
	return "e30." + claims + ".c2ln"
}

func TestRotationAt(t *testing.T) {
	day := 24 * time.Hour
	for _, test := range []struct {
		reason  string
		rotated time.Time
		token   string
		want    time.Time
	}{
		{"never renewed: once", time.Time{}, "", time.Time{}},
		{"60 days after the last time", now, token(now, now.Add(90*day)), now.Add(60 * day)},
		{"a source that grants less: after two thirds", now, token(now, now.Add(30*day)), now.Add(20 * day)},
		{"a token that another client has stored since", now.Add(-10 * day), token(now.Add(-day), now.Add(2*day)), now.Add(day)},
		{"a token for centuries", now, token(now, now.Add(math.MaxInt64).AddDate(200, 0, 0)), now.Add(60 * day)},
		{"a token that tells nothing", now, "opaque", now.Add(60 * day)},
		{"a token that tells nonsense", now, "a.!.c", now.Add(60 * day)},
		{"a time in the future counts like any other", now.Add(day), "", now.Add(61 * day)},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := RotationAt(test.rotated, test.token); !got.Equal(test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestEarliest: a run comes for the token of the source as it does for credentials of
// shoots, also if it lives for less than the interval of runs.
func TestEarliest(t *testing.T) {
	soon, late := now.Add(time.Minute), now.Add(time.Hour)
	for _, test := range []struct {
		reason         string
		a, b, earliest time.Time
	}{
		{"nothing waits", time.Time{}, time.Time{}, time.Time{}},
		{"only one does", time.Time{}, soon, soon},
		{"only the other one does", soon, time.Time{}, soon},
		{"the token is first", late, soon, soon},
		{"the credentials are first", soon, late, soon},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := Earliest(test.a, test.b); !got.Equal(test.earliest) {
				t.Errorf("got %s", got)
			}
		})
	}
}
