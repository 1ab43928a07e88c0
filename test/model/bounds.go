package model

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
)

// ringsInSecond is how often an object may be looked at again by a timer within a second in which
// nothing was written.
const ringsInSecond = 10

// checkRing: retries are bounded, whatever the error. A timer does not bring an object back again and
// again while nothing changes.
func (w *world) checkRing(l *lane, key types.NamespacedName) {
	version := strconv.Itoa(w.store.version)
	before := l.rings[key]
	if before == nil || before.version != version || time.Since(before.since) >= time.Second {
		l.rings[key] = &asked{version: version, since: time.Now(), count: 1}
		return
	}
	if before.count++; before.count > ringsInSecond {
		w.violate("%s looks at %s %d times within a second, in which nothing was written", l.name, key.Name, before.count)
	}
}

// reportsInJob is how many status writes of one object in one job may be no transition: a wait for
// each thing that comes late, and what was reached before a failure.
const reportsInJob = 12

// work is an object in one of its jobs.
type work struct {
	uid types.UID
	job string
}

// checkReports: status writes are transitions, and few more.
func (w *world) checkReports(c change) {
	if c.before == nil || c.after == nil || w.writer == "" || !w.store.reporting || c.before.GetGeneration() != c.after.GetGeneration() {
		return
	}
	id, finished, phase := jobOf(c.after)
	idBefore, finishedBefore, phaseBefore := jobOf(c.before)
	if id == "" || id != idBefore || finished != finishedBefore || phase != phaseBefore {
		return
	}
	of := work{c.after.GetUID(), id}
	w.reports[of]++
	w.counts.reports = max(w.counts.reports, w.reports[of])
	if w.reports[of] > reportsInJob {
		w.violate("%s has written the status of %s %s %d times in %s without a transition", w.writer, c.kind, c.key.Name, w.reports[of], id)
	}
}

// logs are what operators read. They must not contain a secret.
type logs struct {
	world *world
	// values are in each line.
	values []any
}

// Init implements logr.LogSink.
func (logs) Init(logr.RuntimeInfo) {}

// Enabled implements logr.LogSink: the details of an attempt are not looked at, which would take as
// long as all the rest.
func (logs) Enabled(level int) bool { return level == 0 }

// Info implements logr.LogSink.
func (l logs) Info(_ int, message string, values ...any) {
	l.world.checkSecret("the log", fmt.Sprint(message, l.values, values))
}

// Error implements logr.LogSink.
func (l logs) Error(err error, message string, values ...any) {
	l.world.checkSecret("the log", fmt.Sprint(message, err, l.values, values))
}

// WithValues implements logr.LogSink.
func (l logs) WithValues(values ...any) logr.LogSink {
	return logs{world: l.world, values: append(slices.Clip(l.values), values...)}
}

// WithName implements logr.LogSink.
func (l logs) WithName(string) logr.LogSink { return l }
