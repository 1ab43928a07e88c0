package readiness

import (
	"cmp"
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/deploy/limit"
	"go.landscaper.dev/internal/deploy/target"
)

const (
	// podCheckDelay is how long a workload may take before its pods are looked at: most are
	// ready by then, and cost no request.
	podCheckDelay = 5 * time.Second
	// longestPause is between two looks at the pods of a workload; the first is twice the
	// podCheckDelay, and each is twice as long as the one before.
	longestPause = time.Minute
	// maxPods is how many pods are looked at, maxWorkloads how many workloads at a time: a
	// message names no more.
	maxPods, maxWorkloads = 100, 3
)

// Causes find out why workloads are not ready. Their own status counts replicas; the
// reason is one hop away, in their pods. These are listed only while a wait lasts, at a
// pace that slows down, and at its end. Access that does not allow that fails nothing.
type Causes struct {
	wake  func()
	now   func() time.Time
	known map[string]*cause
	next  *limit.Limit
	// refused says that pods may not be listed.
	refused bool
}

// cause is what is known of one workload.
type cause struct {
	// due is when its pods are looked at, pause how long it is until the next look then.
	due   time.Time
	pause time.Duration
	asked time.Time
	text  string
}

// NewCauses returns causes that call wake when something may have changed.
func NewCauses(wake func()) *Causes {
	return &Causes{wake: wake, now: time.Now, known: map[string]*cause{}}
}

// About returns what is said of an object that is not ready, for those who do not check
// objects by rules.
func About(object *unstructured.Unstructured, why string) Unfinished {
	return unfinished(object, Finding{Why: why})
}

// Explain adds the reason that the pods show to objects that are not ready. Last says that the
// result is what people will read at the end, so that it has to be as new as it can be.
func (c *Causes) Explain(ctx context.Context, cluster target.Cluster, unready []Unfinished, last bool) []Unfinished {
	explained := slices.Clone(unready)
	now, next := c.now(), time.Time{}
	for i := range explained[:min(len(explained), maxWorkloads)] {
		found := &explained[i]
		if found.object == nil {
			continue
		}
		if found.object.GroupVersionKind().GroupKind() == (schema.GroupKind{Kind: "Pod"}) {
			found.Why = withCause(found.Why, podProblem(found.object))
			continue
		}
		if problem := uncreated(found.object); problem != "" {
			if found.Why != problem {
				found.Why = withCause(found.Why, problem)
			}
			continue
		}
		selector := podsOf(found.object)
		if selector == nil || c.refused {
			continue
		}
		known := c.of(found.What(), now)
		if !now.Before(known.due) || last && now.Sub(known.asked) > time.Second {
			known.text = cmp.Or(c.ask(ctx, cluster, found.object, selector), known.text)
			known.asked, known.due = now, now.Add(known.pause)
			known.pause = min(known.pause*2, longestPause)
		}
		found.Why = withCause(found.Why, known.text)
		if next.IsZero() || known.due.Before(next) {
			next = known.due
		}
	}
	c.next.End()
	if c.next = nil; !next.IsZero() && !last && !c.refused {
		c.next = limit.New(max(next.Sub(now), time.Millisecond), c.wake)
	}
	return explained
}

func withCause(why, cause string) string {
	if cause == "" {
		return why
	}
	return why + "; " + cause
}

func (c *Causes) of(what string, now time.Time) *cause {
	if c.known[what] == nil {
		c.known[what] = &cause{due: now.Add(podCheckDelay), pause: 2 * podCheckDelay}
	}
	return c.known[what]
}

// ask looks at the pods of a workload. What it cannot find out is left out.
func (c *Causes) ask(ctx context.Context, cluster target.Cluster, object *unstructured.Unstructured, selector *metav1.LabelSelector) string {
	mapping, err := cluster.Mapping(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	if err != nil {
		return ""
	}
	pods, err := cluster.ListSome(ctx, mapping, object.GetNamespace(), labels.Set(selector.MatchLabels), maxPods)
	c.refused = apierrors.IsForbidden(err)
	if err != nil {
		return ""
	}
	return workloadProblem(selected(pods, selector))
}

// selected returns the pods that a selector means, the newest first: those of an earlier
// revision say nothing about this one.
func selected(pods []*unstructured.Unstructured, selector *metav1.LabelSelector) []*unstructured.Unstructured {
	matches, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return nil
	}
	pods = slices.DeleteFunc(pods, func(pod *unstructured.Unstructured) bool {
		return pod.GetDeletionTimestamp() != nil || !matches.Matches(labels.Set(pod.GetLabels()))
	})
	slices.SortStableFunc(pods, func(a, b *unstructured.Unstructured) int {
		return b.GetCreationTimestamp().Compare(a.GetCreationTimestamp().Time)
	})
	return pods
}

// uncreated says why there are no pods, as far as the workload itself says: with what an API server
// says, which may quote what a pod has.
func uncreated(object *unstructured.Unstructured) string {
	failed := condition(object, "ReplicaFailure")
	if failed == nil || failed["status"] == "False" {
		return ""
	}
	message, _ := failed["message"].(string)
	reason, _ := failed["reason"].(string)
	if said := cmp.Or(clustererror.Said(message), reasonWord(reason)); said != "" {
		return "it cannot create its pods: " + said
	}
	return "it cannot create its pods"
}

// workloadProblem says what is wrong with the pods of a workload.
func workloadProblem(pods []*unstructured.Unstructured) string {
	for _, pod := range pods {
		if ready := condition(pod, "Ready"); ready != nil && ready["status"] == "True" {
			continue
		}
		if problem := podProblem(pod); problem != "" {
			return "pod " + oneLine(pod.GetName()) + ": " + problem
		}
	}
	if len(pods) == 0 {
		return "it has no pods"
	}
	return ""
}

// podsOf returns the selector of the pods of a workload, nil for anything else and for
// one that would select all.
func podsOf(object *unstructured.Unstructured) *metav1.LabelSelector {
	selector := &metav1.LabelSelector{}
	switch kind := object.GroupVersionKind().GroupKind(); {
	case kind == schema.GroupKind{Kind: "ReplicationController"}:
		selector.MatchLabels, _, _ = unstructured.NestedStringMap(object.Object, "spec", "selector")
	case kind == job, IsWorkload(kind):
		content, _, _ := unstructured.NestedMap(object.Object, "spec", "selector")
		if runtime.DefaultUnstructuredConverter.FromUnstructured(content, selector) != nil {
			return nil
		}
	}
	if len(selector.MatchLabels) == 0 {
		return nil
	}
	return selector
}

// Close ends the timer.
func (c *Causes) Close() {
	c.next.End()
	c.next = nil
}
