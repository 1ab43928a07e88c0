package world

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"go.landscaper.dev/test/model/store"
)

// logs are what operators read. They must not contain a secret.
type logs struct {
	world *World
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

// Events are what users are told. They must not contain a secret.
type Events struct {
	recorder.EventRecorder // what no controller uses
	World                  *World
}

// Eventf implements events.EventRecorder.
func (e *Events) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	e.World.checkSecret("the event "+reason, fmt.Sprintf(note, args...))
}

// checkSecret: nothing that is shown contains what must not be shown.
func (w *World) checkSecret(where, text string) {
	if strings.Contains(text, SecretMark) {
		w.Violate("%s shows a secret: %s", where, text)
	}
}

// SecretMark is in everything that must not be shown: tokens, kubeconfigs.
const SecretMark = "dDBwc2VjcmV0"

// checkStatusWrite: a status is written when it is another one. That of a TargetSync has the time of the
// last run that has written something, which may be the same second.
func (w *World) checkStatusWrite(k store.Kind, key types.NamespacedName, changed bool) {
	if !changed && k != "TargetSync" {
		w.Violate("%s writes the status of %s %s, which is as before", w.Writer, k, key.Name)
	}
}
