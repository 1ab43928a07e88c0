package taglists

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.landscaper.dev/internal/content/component/registry"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// source is a registry with one list.
type source struct {
	asked     atomic.Int32
	validator string
	tags      []string
	err       error
}

func (s *source) ask(_ context.Context, validator string, _ int) (registry.TagList, bool, error) {
	s.asked.Add(1)
	if s.err != nil {
		return registry.TagList{}, false, s.err
	}
	if validator != "" && validator == s.validator {
		return registry.TagList{Validator: validator}, false, nil
	}
	return registry.TagList{Tags: slices.Clone(s.tags), Validator: s.validator}, true, nil
}

// TestShared: of many who ask at once, one asks the registry.
func TestShared(t *testing.T) {
	lists, s := &Lists{Now: func() time.Time { return noon }}, &source{tags: []string{"1.0.0"}}
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if got, _, err := lists.Get(t.Context(), "key", noon, s.ask); err != nil || len(got.Tags) != 1 {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	group.Wait()
	if s.asked.Load() != 1 {
		t.Errorf("the registry was asked %d times", s.asked.Load())
	}
	if _, _, err := lists.Get(t.Context(), "other credentials", noon, s.ask); err != nil || s.asked.Load() != 2 {
		t.Errorf("others got the list without a request, %v", err)
	}
}

// TestUnchanged: a list that is as it was stays, whether or not the registry can say so.
func TestUnchanged(t *testing.T) {
	for _, validator := range []string{"", `"v1"`} {
		t.Run("validator "+validator, func(t *testing.T) {
			now := noon
			lists, s := &Lists{Now: func() time.Time { return now }}, &source{tags: []string{"1.0.0"}, validator: validator}
			first, _, err := lists.Get(t.Context(), "key", now, s.ask)
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(time.Minute)
			second, _, err := lists.Get(t.Context(), "key", now, s.ask)
			if err != nil || second.State != first.State || !slices.Equal(second.Tags, first.Tags) || !second.At.Equal(now) || !second.Asked {
				t.Errorf("%+v, %v", second, err)
			}
			s.tags, s.validator = []string{"1.0.0", "1.1.0"}, strings.ReplaceAll(validator, "1", "2")
			now = now.Add(time.Minute)
			if third, _, err := lists.Get(t.Context(), "key", now, s.ask); err != nil || third.State == first.State || len(third.Tags) != 2 {
				t.Errorf("%+v, %v", third, err)
			}
		})
	}
}

// TestFailures: a registry that is down is left alone for longer each time, by all together; a user who
// asks gets a new answer.
func TestFailures(t *testing.T) {
	now := noon
	lists, s := &Lists{Now: func() time.Time { return now }}, &source{err: errors.New("down")}
	last := time.Duration(0)
	for attempt := range 8 {
		_, retry, err := lists.Get(t.Context(), "key", noon, s.ask)
		pause := retry.Sub(now)
		if err == nil || pause < last || pause > longestPause {
			t.Errorf("attempt %d: %v, the next one after %s", attempt, err, pause)
		}
		if _, again, err := lists.Get(t.Context(), "key", noon, s.ask); err == nil || !again.Equal(retry) || int(s.asked.Load()) != attempt+1 {
			t.Errorf("attempt %d: it was asked %d times, again at %s", attempt, s.asked.Load(), again)
		}
		last, now = pause, retry
	}
	asked := s.asked.Load()
	now = now.Add(-time.Second)
	if _, _, err := lists.Get(t.Context(), "key", now, s.ask); err == nil || s.asked.Load() != asked+1 {
		t.Errorf("a request of now did not ask: %v", err)
	}
	s.err = nil
	now = now.Add(time.Hour)
	if got, _, err := lists.Get(t.Context(), "key", now, s.ask); err != nil || !got.At.Equal(now) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestEnded: that one who asks has ended is no failure of the registry for others.
func TestEnded(t *testing.T) {
	lists, s := &Lists{Now: func() time.Time { return noon }}, &source{}
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := lists.Get(ctx, "key", noon, func(ctx context.Context, _ string, _ int) (registry.TagList, bool, error) {
		cancel()
		return registry.TagList{}, false, ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, _, err := lists.Get(t.Context(), "key", noon, s.ask); err != nil {
		t.Errorf("another one gets %v", err)
	}
	lists.of("busy").turn <- struct{}{}
	if _, _, err := lists.Get(ctx, "busy", noon, s.ask); !errors.Is(err, context.Canceled) {
		t.Errorf("one that waits gets %v", err)
	}
}

// TestBounds: lists are dropped before they take the memory of the process.
func TestBounds(t *testing.T) {
	now := noon
	lists := &Lists{Now: func() time.Time { now = now.Add(time.Second); return now }}
	tags := make([]string, MaxTags)
	for i := range tags {
		tags[i] = fmt.Sprintf("1.0.%0100d", i)
	}
	s := &source{tags: append(tags, strings.Repeat("x", maxTag+1))}
	for i := range 100 {
		if got, _, err := lists.Get(t.Context(), fmt.Sprint("key ", i), now, s.ask); err != nil || len(got.Tags) != MaxTags {
			t.Fatalf("%d tags, %v", len(got.Tags), err)
		}
	}
	if lists.bytes > maxBytes || len(lists.known) < 10 || lists.known["key 99"] == nil || lists.known["key 0"] != nil {
		t.Errorf("%d lists take %d bytes", len(lists.known), lists.bytes)
	}
}

// TestSpread: those who share a list wait as long.
func TestSpread(t *testing.T) {
	if Spread("a") != Spread("a") || Spread("a") == Spread("b") || Spread("a") < 0 || Spread("a") > 1 {
		t.Errorf("%f, %f", Spread("a"), Spread("b"))
	}
}
