package reading

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/landscape/inspect"
)

var (
	errForbidden   = apierrors.NewForbidden(schema.GroupResource{Resource: "executions"}, "", errors.New("no"))
	errUnavailable = apierrors.NewServiceUnavailable("starting")
	errRefused     = fmt.Errorf("list: %w", &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED})
	errReset       = fmt.Errorf("list: %w", &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET})
)

// live is one whose requests for kinds have ended with errors, this many times each.
func live(times int, failures map[inspect.Kind]error) *Live {
	l := &Live{namespace: "shop", sources: slices.Concat(sources, []Source{Events, TargetSyncs}), changed: make(chan struct{}, 1)}
	l.failures, l.attempts = make([]error, len(l.sources)), make([]int, len(l.sources))
	for i, source := range l.sources {
		for range times {
			if err := failures[source.kind]; err != nil {
				l.record(i, err)
			}
		}
	}
	return l
}

// TestFirstSnapshot: what ends a command before it has begun, and what is waited for.
func TestFirstSnapshot(t *testing.T) {
	for _, test := range []struct {
		reason string
		times  int
		kind   inspect.Kind
		err    error
		// want is what the error names, "" without an error.
		want string
	}{
		{"nothing has failed", 1, inspect.KindInstallation, nil, ""},
		{"who may not see Installations sees nothing", 1, inspect.KindInstallation, errForbidden, "installations"},
		{"who may not see Executions sees Installations alone", 9, inspect.KindExecution, errForbidden, ""},
		{"who may not see events does without them", 9, Events.kind, errForbidden, ""},
		{"a cluster without TargetSyncs has the rest", 1, TargetSyncs.kind, apierrors.NewNotFound(schema.GroupResource{}, ""), ""},
		{"a client that knows no TargetSyncs has the rest", 1, TargetSyncs.kind, &meta.NoKindMatchError{}, ""},
		{"a refused connection: the address is wrong", 1, inspect.KindDeployItem, errRefused, "deployitems"},
		{"the password is wrong", 1, inspect.KindExecution, apierrors.NewUnauthorized("who?"), "executions"},
		{"Landscaper is not installed", 1, inspect.KindInstallation, apierrors.NewNotFound(schema.GroupResource{}, ""), "installations"},
		{"an API server that starts is waited for", firstAttempts, inspect.KindInstallation, errUnavailable, ""},
		{"an API server that does not start is not waited for", firstAttempts + 1, inspect.KindInstallation, errUnavailable, "installations"},
		{"a connection that broke is made again", 1, inspect.KindDeployItem, errReset, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			err := live(test.times, map[inspect.Kind]error{test.kind: test.err}).fatal()
			if (err != nil) != (test.want != "") {
				t.Fatalf("got %v", err)
			}
			if err != nil && (!errors.Is(err, test.err) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "shop")) {
				t.Errorf("got %v, which does not name %s and the namespace, or has lost its cause", err, test.want)
			}
		})
	}
}

// TestDisconnected: what is said of a snapshot that is not up to date.
func TestDisconnected(t *testing.T) {
	for _, test := range []struct {
		reason                   string
		failures                 map[inspect.Kind]error
		disconnected, unreadable string
	}{
		{"all is well", nil, "", ""},
		{"a watch is broken", map[inspect.Kind]error{inspect.KindDeployItem: errReset}, "deployitems", ""},
		{"what may not be seen is told, and no reason to wait", map[inspect.Kind]error{inspect.KindExecution: errForbidden}, "", "executions"},
		{"the rights to all kinds are withdrawn", map[inspect.Kind]error{inspect.KindInstallation: errForbidden}, "installations", ""},
		{"both", map[inspect.Kind]error{inspect.KindInstallation: errUnavailable, Events.kind: errForbidden}, "installations", "events"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			l := live(1, test.failures)
			if err := l.Disconnected(); (err != nil) != (test.disconnected != "") || err != nil && !strings.Contains(err.Error(), test.disconnected) {
				t.Errorf("disconnected: %v, want %q", err, test.disconnected)
			}
			hidden := l.Snapshot().Unreadable
			if (len(hidden) > 0) != (test.unreadable != "") || len(hidden) > 0 && !strings.Contains(hidden[0].Error(), test.unreadable) {
				t.Errorf("unreadable: %v, want %q", hidden, test.unreadable)
			}
		})
	}
	l := live(1, map[inspect.Kind]error{inspect.KindDeployItem: errReset})
	l.record(2, nil)
	if err := l.Disconnected(); err != nil {
		t.Errorf("the watch has come back: %v", err)
	}
	select {
	case <-l.Changed():
	default:
		t.Error("the failure is not reported")
	}
}
