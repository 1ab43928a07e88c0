package delivery

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
)

// week is how long a window may be open.
const week = 7 * 24 * time.Hour

// span is a time from a moment on, and before another one.
type span struct{ from, to time.Time }

func (s span) contains(at time.Time) bool { return !at.Before(s.from) && at.Before(s.to) }

// opening is a window whose fields were read.
type opening struct {
	automaticOnly bool
	// once is the span of a window with dates.
	once span
	// days, hour, minute and length are those of a weekly one; its length is above 0.
	days         []time.Weekday
	hour, minute int
	length       time.Duration
	zone         *time.Location
}

// zones are the time zones that were loaded, by their names: loading one reads a file, and policies are read
// with each judgement. Only names that exist are kept, in one form each, so that there are a few hundred.
var zones sync.Map

// zoneOf reads the name of a time zone. "Local" would be that of the server, which users do not see.
func zoneOf(name string) (*time.Location, error) {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), nil
	}
	if name == "Local" {
		return nil, errors.New("spec.timeZone: Local is not the name of a time zone: write one such as Europe/Berlin")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("spec.timeZone: there is no time zone %q: write one such as Europe/Berlin", name)
	}
	if path.Clean(name) == name {
		zones.Store(name, zone)
	}
	return zone, nil
}

// openingOf reads a window. The schema of the kind refuses the same mistakes, but an object may have
// been stored without it.
func openingOf(window *deliveryv1alpha1.Window, zone *time.Location) (opening, error) {
	o := opening{automaticOnly: window.AppliesTo == deliveryv1alpha1.AppliesToAutomatic, zone: zone}
	if window.From != nil || window.To != nil {
		if window.From == nil || window.To == nil || window.Start != "" || window.Duration != "" || len(window.Days) > 0 {
			return o, errors.New("write either start and duration, or from and to")
		}
		if !window.From.Before(window.To) {
			return o, errors.New("to must be after from")
		}
		o.once = span{window.From.Time, window.To.Time}
		return o, nil
	}
	start, err := time.Parse("15:04", window.Start)
	if err != nil || len(window.Start) != len("15:04") {
		return o, fmt.Errorf("start is %q: write a time such as 22:00", window.Start)
	}
	if o.length, err = time.ParseDuration(window.Duration); err != nil || o.length <= 0 || o.length > week {
		return o, fmt.Errorf("duration is %q: write a time above 0 and up to 168h, such as 8h", window.Duration)
	}
	o.hour, o.minute = start.Hour(), start.Minute()
	for _, name := range window.Days {
		day, ok := weekdays[name]
		if !ok {
			return o, fmt.Errorf("days: there is no day %q: write one such as Monday", name)
		}
		o.days = append(o.days, day)
	}
	return o, nil
}

var weekdays = map[deliveryv1alpha1.Weekday]time.Weekday{
	"Sunday": time.Sunday, "Monday": time.Monday, "Tuesday": time.Tuesday, "Wednesday": time.Wednesday,
	"Thursday": time.Thursday, "Friday": time.Friday, "Saturday": time.Saturday,
}

// around returns the spans of a window that are open at a time, and the first one after it. Days are
// counted on the calendar, because those on which the clock changes are not 24 hours long.
func (o opening) around(at time.Time) []span {
	if o.length == 0 {
		return []span{o.once}
	}
	year, month, day := at.In(o.zone).Date()
	var found []span
	// A window of a week may have begun eight days ago, on a day that the clock has made longer, and the
	// next one may begin in eight.
	for offset := -8; offset <= 8; offset++ {
		date := time.Date(year, month, day+offset, 0, 0, 0, 0, time.UTC)
		if len(o.days) > 0 && !slices.Contains(o.days, date.Weekday()) {
			continue
		}
		from := onClock(date, o.hour, o.minute, o.zone)
		if next := (span{from, from.Add(o.length)}); next.contains(at) {
			found = append(found, next)
		} else if next.from.After(at) {
			return append(found, next)
		}
	}
	return found
}

// onClock returns the moment at which the clock of a zone shows a time of a day. A time that the clock
// leaves out is the moment at which it is changed; of a time that comes twice, the first counts.
func onClock(date time.Time, hour, minute int, zone *time.Location) time.Time {
	at := time.Date(date.Year(), date.Month(), date.Day(), hour, minute, 0, 0, zone)
	wanted := time.Date(date.Year(), date.Month(), date.Day(), hour, minute, 0, 0, time.UTC)
	begin, end := at.ZoneBounds()
	switch shown := reading(at); {
	case shown.After(wanted):
		return begin
	case shown.Before(wanted):
		return end
	}
	if begin.IsZero() {
		return at
	}
	_, now := at.Zone()
	_, before := begin.Add(-time.Second).Zone()
	if first := at.Add(time.Duration(now-before) * time.Second); first.Before(begin) && reading(first).Equal(wanted) {
		return first
	}
	return at
}

// reading is what the clock of a zone shows, as if it were UTC: two readings can be compared.
func reading(at time.Time) time.Time {
	year, month, day := at.Date()
	return time.Date(year, month, day, at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
}
