package function

import (
	"time"

	// Time zones do not depend on the machine.
	_ "time/tzdata"

	"go.landscaper.dev/internal/content/template/gotemplate/operand"
)

// The local time zone of the machine must not reach a template: controller and command line must
// get the same answer. Local is UTC here.

func now() time.Time { return time.Now().UTC().Round(0) }

func zone(name string) *time.Location {
	if name == "Local" {
		return time.UTC
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return location
}

// moment is a time, or seconds since 1970; everything else is now.
func moment(value any) time.Time {
	switch value := value.(type) {
	case time.Time:
		return value
	case *time.Time:
		return *value
	}
	if seconds, ok := operand.Integer(value); ok {
		return time.Unix(seconds, 0).UTC()
	}
	return now()
}

func date(layout string, value any) string { return moment(value).In(time.UTC).Format(layout) }

func dateInZone(layout string, value any, name string) string {
	return moment(value).In(zone(name)).Format(layout)
}

func htmlDate(value any) string { return date(time.DateOnly, value) }

func htmlDateInZone(value any, name string) string { return dateInZone(time.DateOnly, value, name) }

func toDate(layout, text string) time.Time {
	t, _ := mustToDate(layout, text)
	return t
}

func mustToDate(layout, text string) (time.Time, error) {
	return time.ParseInLocation(layout, text, time.UTC)
}

func ago(value any) string { return time.Since(moment(value)).Round(time.Second).String() }
