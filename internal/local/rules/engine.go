package rules

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/local/apiserver"
)

// Engine plays the controllers of target clusters by rules. Each change of a cluster is noted in the
// cluster's own time, and acted on in a goroutine of its own.
type Engine struct {
	behaviour Behaviour
	// put writes objects to the cluster of a name.
	put func(cluster string, given Given) error
	// report gets what went wrong.
	report func(error)

	mutex sync.Mutex
	queue []change
	wake  chan struct{}
	// done is the generation for which an object has got what its rule says.
	done  map[types.UID]state
	calls []int
}

// state is what an object had when its rule was carried out.
type state struct {
	generation int64
	requested  string
}

type change struct {
	cluster string
	server  *apiserver.Server
	kind    *apiserver.Kind
	object  *unstructured.Unstructured
	due     bool
}

// NewEngine returns an engine. Run carries the rules out.
func NewEngine(behaviour Behaviour, put func(cluster string, given Given) error, report func(error)) *Engine {
	return &Engine{behaviour: behaviour, put: put, report: report, wake: make(chan struct{}, 1), done: map[types.UID]state{}, calls: make([]int, len(behaviour.Calls))}
}

// Changed returns what a cluster reports its changes to.
func (e *Engine) Changed(cluster string) func(*apiserver.Server, apiserver.Change) {
	return func(server *apiserver.Server, found apiserver.Change) {
		if found.After == nil {
			e.forget(found.Before.GetUID())
			return
		}
		if found.After.GetDeletionTimestamp() == nil {
			e.add(change{cluster: cluster, server: server, kind: found.Kind, object: found.After})
		}
	}
}

func (e *Engine) forget(uid types.UID) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	delete(e.done, uid)
}

func (e *Engine) add(next change) {
	e.mutex.Lock()
	e.queue = append(e.queue, next)
	e.mutex.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// Run acts on changes until the context ends.
func (e *Engine) Run(ctx context.Context) {
	for {
		e.mutex.Lock()
		todo := e.queue
		e.queue = nil
		e.mutex.Unlock()
		for _, next := range todo {
			e.act(ctx, next)
		}
		if len(todo) > 0 {
			continue
		}
		select {
		case <-e.wake:
		case <-ctx.Done():
			return
		}
	}
}

// act carries out the rule for an object; once for each of its specifications.
func (e *Engine) act(ctx context.Context, next change) {
	object := next.object
	rule := e.behaviour.rule(next.cluster, object)
	now := state{generation: object.GetGeneration(), requested: object.GetAnnotations()[requestedAt]}
	if !next.due {
		e.mutex.Lock()
		last, known := e.done[object.GetUID()]
		e.done[object.GetUID()] = now
		e.mutex.Unlock()
		if known && last == now {
			return
		}
		if wait := rule.After.Duration; wait > 0 {
			next.due = true
			timer := time.AfterFunc(wait, func() { e.add(next) })
			context.AfterFunc(ctx, func() { timer.Stop() })
			return
		}
	}
	// What appears beside an object is there when the object says that it is ready.
	for _, appearance := range rule.Create {
		cluster := appearance.Cluster
		if cluster == "" {
			cluster = next.cluster
		}
		if err := e.put(cluster, appearance.Given); err != nil {
			e.report(fmt.Errorf("what appears beside %s %s: %w", object.GetKind(), object.GetName(), err))
		}
	}
	key := types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
	err := next.server.Write(next.kind, key, func(live *unstructured.Unstructured) {
		if rule.Ready == nil || *rule.Ready {
			makeReady(live)
		}
		if rule.Merge != nil {
			live.Object, _ = Merge(live.Object, map[string]any(rule.Merge)).(map[string]any)
		}
	})
	if err != nil {
		e.report(fmt.Errorf("the status of %s %s: %w", object.GetKind(), object.GetName(), err))
	}
}

// Merge puts a value over another one, as a merge patch does: maps field by field, null removes. The first
// may be changed.
func Merge(into, value any) any {
	fields, isMap := value.(map[string]any)
	if !isMap {
		return value
	}
	result, wasMap := into.(map[string]any)
	if !wasMap {
		result = map[string]any{}
	}
	for key, inner := range fields {
		if inner == nil {
			delete(result, key)
			continue
		}
		result[key] = Merge(result[key], inner)
	}
	return result
}

// Intercept returns what each request to a cluster goes through.
func (e *Engine) Intercept(cluster string) func(context.Context, apiserver.Request) error {
	return func(ctx context.Context, request apiserver.Request) error {
		call := e.call(cluster, request)
		if call == nil {
			return nil
		}
		if call.Delay.Duration > 0 {
			timer := time.NewTimer(call.Delay.Duration)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return call.answer(request)
	}
}

// call returns the rule for a request, and counts it; nil without one.
func (e *Engine) call(cluster string, request apiserver.Request) *Call {
	for i := range e.behaviour.Calls {
		call := &e.behaviour.Calls[i]
		if !call.fits(cluster, request) {
			continue
		}
		e.mutex.Lock()
		spent := call.Times > 0 && e.calls[i] >= call.Times
		e.calls[i]++
		e.mutex.Unlock()
		if !spent {
			return call
		}
	}
	return nil
}

func (c *Call) fits(cluster string, request apiserver.Request) bool {
	verb := len(c.Verbs) == 0 || slices.Contains(c.Verbs, request.Verb)
	return verb && c.Match.FitsName(cluster, request.Kind.GroupVersion().String(), request.Kind.Kind, request.Namespace, request.Name)
}

func (c *Call) answer(request apiserver.Request) error {
	resource := request.Kind.GroupVersion().WithResource(request.Kind.Resource).GroupResource()
	switch {
	case c.Forbidden:
		return apierrors.NewForbidden(resource, request.Name, fmt.Errorf("User \"landscaper\" cannot %s resource %q in API group %q: a rule of the landscape forbids it", request.Verb, resource.Resource, resource.Group)) //nolint:staticcheck // as an API server says it
	case c.Fail == nil:
		return nil
	}
	message := c.Fail.Message
	if message == "" {
		message = "a rule of the landscape lets this request fail: " + http.StatusText(c.Fail.Code)
	}
	status := apierrors.NewGenericServerResponse(c.Fail.Code, request.Verb, resource, request.Name, message, 0, true).Status()
	status.Message = message
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: status.Code, Reason: status.Reason, Message: message, Details: status.Details}}
}
