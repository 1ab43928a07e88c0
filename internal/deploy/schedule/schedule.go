// Package schedule says when a finished item is looked at again.
package schedule

import (
	"errors"
	"fmt"
	"time"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/model/validation"
)

// Schedule returns the next time after another one, or zero without one.
type Schedule func(after time.Time) time.Time

// Compile checks a schedule. None is nil.
func Compile(spec *deployer.ContinuousReconcileSpec) (Schedule, error) {
	if spec == nil {
		return nil, nil
	}
	switch spec.Drift {
	case "", deployer.DriftReport, deployer.DriftCorrect:
	default:
		return nil, errors.New("continuousReconcile.drift does not exist: use report or correct, or leave it out")
	}
	switch {
	case spec.Cron != "" && spec.Every != nil:
		return nil, errors.New("continuousReconcile has both cron and every: choose one")
	case spec.Cron != "":
		return byCron(spec.Cron)
	case spec.Every != nil:
		every, err := spec.Every.Parsed()
		if err != nil {
			return nil, fmt.Errorf("continuousReconcile.every: %w", err)
		}
		if every < 0 {
			return nil, errors.New("continuousReconcile.every must be positive")
		}
		if every > 0 {
			return byInterval(every), nil
		}
	}
	return nil, nil
}

// byInterval returns a schedule of whole seconds, at least one.
func byInterval(every time.Duration) Schedule {
	every = max(every.Truncate(time.Second), time.Second)
	return func(after time.Time) time.Time { return after.Add(every) }
}

func byCron(text string) (Schedule, error) {
	parsed, err := validation.Schedule(text)
	if err != nil {
		// The reason is dropped on purpose: it quotes the text.
		return nil, errors.New("continuousReconcile.cron is not a schedule: it has five fields, as 30 4 * * 1, or is a word such as @daily")
	}
	return func(after time.Time) time.Time { return parsed.Next(after.UTC()) }, nil
}
