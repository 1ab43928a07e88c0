package validation

import (
	"errors"
	"strings"

	"github.com/robfig/cron/v3"
)

// Schedule reads a schedule: five fields, or a word such as @hourly, with or without a
// time zone before it.
func Schedule(spec string) (cron.Schedule, error) {
	zone, _, separated := strings.Cut(spec, " ")
	if !separated && (strings.HasPrefix(zone, "TZ=") || strings.HasPrefix(zone, "CRON_TZ=")) {
		// The parser would panic.
		return nil, errors.New("nothing follows the time zone")
	}
	return cron.ParseStandard(spec) // the caller names the field
}
