package rules

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/local/apiserver"
)

// world is two clusters whose controllers are played by rules, in the time of a bubble.
type world struct {
	t        *testing.T
	clusters map[string]*apiserver.Server
	problems []string
}

// newWorld returns clusters with the rules of a file.
func newWorld(t *testing.T, text string) *world {
	t.Helper()
	landscape, err := Parse(FileName, []byte("apiVersion: "+APIVersion+"\nkind: "+Kind+"\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, clusters: map[string]*apiserver.Server{}}
	engine := NewEngine(landscape.Behaviour, w.put, func(err error) { w.problems = append(w.problems, err.Error()) })
	for _, name := range []string{"edge", "core"} {
		w.clusters[name] = apiserver.New(apiserver.Options{Changed: engine.Changed(name)})
	}
	go engine.Run(t.Context())
	return w
}

func (w *world) put(cluster string, given Given) error {
	for _, manifest := range given.Manifests {
		if w.clusters[cluster] == nil {
			return fmt.Errorf("there is no Target %s", cluster)
		}
		if err := w.clusters[cluster].Put(manifest.Object()); err != nil {
			return err
		}
	}
	return nil
}

// write writes an object of the default namespace to the first cluster, and waits until all is quiet.
func (w *world) write(text string) {
	w.t.Helper()
	if err := w.clusters["edge"].Put(decoded(w.t, text)); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

// pass lets time pass.
func (w *world) pass(duration time.Duration) {
	<-time.After(duration)
	synctest.Wait()
}

// find returns an object of the default namespace; nil without it.
func (w *world) find(cluster, apiVersion, kind, name string) *unstructured.Unstructured {
	like := unstructured.Unstructured{}
	like.SetAPIVersion(apiVersion)
	like.SetKind(kind)
	return w.clusters[cluster].Find(like.GroupVersionKind(), types.NamespacedName{Namespace: "default", Name: name})
}

func (w *world) ready(name string) bool {
	w.t.Helper()
	object := w.find("edge", "apps/v1", "Deployment", name)
	if object == nil {
		w.t.Fatalf("there is no Deployment %s", name)
	}
	return readiness.Kstatus(object).Ready()
}

func deployment(name string, replicas int) string {
	return fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s}\nspec: {replicas: %d}\n", name, replicas)
}

// TestWhen: an object becomes ready at the time that its rule names, and not before.
func TestWhen(t *testing.T) {
	const day = 24 * time.Hour
	for _, test := range []struct {
		reason, rules string
		after         time.Duration
		never         bool
	}{
		{reason: "without a rule, at once", rules: ""},
		{reason: "with a rule that says nothing of a time", rules: "objects: [{match: {kind: Deployment}, merge: {metadata: {labels: {a: b}}}}]"},
		{reason: "after a time", rules: "objects: [{match: {name: a}, after: 10m}]", after: 10 * time.Minute},
		{reason: "never", rules: "objects: [{match: {name: a}, ready: false}]", never: true},
		{reason: "never, and a time does not change that", rules: "objects: [{match: {name: a}, ready: false, after: 1m}]", never: true},
		{reason: "a rule for another cluster does not count", rules: "objects: [{match: {cluster: core}, ready: false}]"},
		{reason: "the first rule counts, not the sum of all", rules: "objects: [{match: {name: a}, after: 1m}, {match: {kind: Deployment}, ready: false}]", after: time.Minute},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, test.rules)
				w.write(deployment("a", 2))
				if test.after > 0 {
					w.pass(test.after - time.Nanosecond)
					if w.ready("a") {
						t.Errorf("ready before %s", test.after)
					}
					w.pass(time.Nanosecond)
				}
				if test.never {
					w.pass(day)
				}
				if w.ready("a") == test.never || w.problems != nil {
					t.Errorf("ready: %t, %v", !test.never, w.problems)
				}
			})
		})
	}
}

// TestDefaultReplicas: a workload that names no replicas has one, as an API server sees to; otherwise the
// deployers wait for ever.
func TestDefaultReplicas(t *testing.T) {
	for _, kind := range []string{"Deployment", "StatefulSet", "ReplicaSet"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, "")
			w.write("apiVersion: apps/v1\nkind: " + kind + "\nmetadata: {name: a}\nspec: {}\n")
			if found := readiness.Unready(w.find("edge", "apps/v1", kind, "a")); !found.Ready() {
				t.Errorf("%s: %s", kind, found.Why)
			}
		})
	}
}

// TestAgain: a changed specification takes its time again; a change of anything else does not.
func TestAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "objects: [{match: {kind: Deployment}, after: 1m}]")
		w.write(deployment("a", 1))
		w.pass(time.Minute)
		settled := w.find("edge", "apps/v1", "Deployment", "a").GetResourceVersion()
		w.write(deployment("a", 1))
		w.pass(time.Hour)
		if now := w.find("edge", "apps/v1", "Deployment", "a").GetResourceVersion(); now != settled {
			t.Errorf("the same again has made version %s of %s", now, settled)
		}
		w.write(deployment("a", 3))
		if w.ready("a") {
			t.Error("ready at once for another specification")
		}
		w.pass(time.Minute)
		if !w.ready("a") {
			t.Error("not ready for the other specification")
		}
	})
}

// TestDeletedBefore: what is deleted before its time stays deleted, and that is no problem.
func TestDeletedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "objects: [{match: {kind: Deployment}, after: 1m}]")
		w.write(deployment("a", 1))
		object := w.find("edge", "apps/v1", "Deployment", "a")
		if err := w.clusters["edge"].Delete(object.GroupVersionKind(), types.NamespacedName{Namespace: "default", Name: "a"}); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Hour)
		if left := w.find("edge", "apps/v1", "Deployment", "a"); left != nil || w.problems != nil {
			t.Errorf("%v, %v", left, w.problems)
		}
	})
}

// TestAppearances: what a rule creates is there when the object is ready, on the cluster that it names.
func TestAppearances(t *testing.T) {
	const secret = "{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {name: robot, annotations: {kubernetes.io/service-account.name: robot}}}"
	for _, test := range []struct {
		reason, rules, cluster string
		problem                string
	}{
		{reason: "beside the object", rules: "objects: [{match: {kind: Deployment}, after: 1m, create: [{manifests: [" + secret + "]}]}]", cluster: "edge"},
		{reason: "on another cluster", rules: "objects: [{match: {kind: Deployment}, after: 1m, create: [{cluster: core, manifests: [" + secret + "]}]}]", cluster: "core"},
		{reason: "beside an object that is never ready", rules: "objects: [{match: {kind: Deployment}, after: 1m, ready: false, create: [{manifests: [" + secret + "]}]}]", cluster: "edge"},
		{reason: "on a cluster that does not exist", rules: "objects: [{match: {kind: Deployment}, after: 1m, create: [{cluster: moon, manifests: [" + secret + "]}]}]", problem: "what appears beside Deployment a: there is no Target moon"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, test.rules)
				w.write(deployment("a", 1))
				if early := w.find("edge", "v1", "Secret", "robot"); early != nil {
					t.Error("it appears before its time")
				}
				w.pass(time.Minute)
				if test.problem != "" {
					if len(w.problems) != 1 || w.problems[0] != test.problem {
						t.Errorf("%q", w.problems)
					}
					return
				}
				made := w.find(test.cluster, "v1", "Secret", "robot")
				if made == nil || w.problems != nil {
					t.Fatalf("%v, %q", made, w.problems)
				}
				if token, _, _ := unstructured.NestedString(made.Object, "data", "token"); token == "" {
					t.Errorf("the Secret has no token: %v", made.Object)
				}
			})
		})
	}
}

// TestMerge: maps are merged, null removes, and all else is replaced.
func TestMerge(t *testing.T) {
	type fields = map[string]any
	for _, test := range []struct {
		reason            string
		into, value, want any
	}{
		{"maps are merged", fields{"a": fields{"b": 1}}, fields{"a": fields{"c": 2}}, fields{"a": fields{"b": 1, "c": 2}}},
		{"null removes", fields{"a": 1, "b": 2}, fields{"a": nil}, fields{"b": 2}},
		{"null in what is new leaves nothing behind", fields{}, fields{"a": fields{"b": nil}}, fields{"a": fields{}}},
		{"lists are replaced", fields{"a": []any{1, 2}}, fields{"a": []any{3}}, fields{"a": []any{3}}},
		{"a map takes the place of a text", fields{"a": "b"}, fields{"a": fields{"c": 1}}, fields{"a": fields{"c": 1}}},
		{"a text takes the place of a map", fields{"a": fields{"c": 1}}, fields{"a": "b"}, fields{"a": "b"}},
	} {
		if have := Merge(test.into, test.value); !reflect.DeepEqual(have, test.want) {
			t.Errorf("%s: %v, want %v", test.reason, have, test.want)
		}
	}
}

// TestMergedStatus: a rule goes over what makes an object ready.
func TestMergedStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "objects: [{match: {kind: Service}, merge: {status: {loadBalancer: {ingress: [{ip: 203.0.113.7}]}}}}]")
		w.write("apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {type: LoadBalancer}\n")
		object := w.find("edge", "v1", "Service", "a")
		if ingress, _, _ := unstructured.NestedSlice(object.Object, "status", "loadBalancer", "ingress"); !reflect.DeepEqual(ingress, []any{map[string]any{"ip": "203.0.113.7"}}) {
			t.Errorf("%v", object.Object["status"])
		}
	})
}

// answers are what a number of the same requests get, as codes; 0 is the usual answer.
func answers(t *testing.T, intercept func(context.Context, apiserver.Request) error, request apiserver.Request, count int) (codes []int32, last error) {
	t.Helper()
	for range count {
		err := intercept(t.Context(), request)
		var known apierrors.APIStatus
		switch {
		case err == nil:
			codes = append(codes, 0)
		case errors.As(err, &known):
			codes, last = append(codes, known.Status().Code), err
		default:
			t.Fatalf("an answer that no API server gives: %v", err)
		}
	}
	return codes, last
}

// TestCalls: which requests get another answer, which one, and how many of them.
func TestCalls(t *testing.T) {
	widgets := apiserver.NewKind(decoded(t, "apiVersion: example.org/v1\nkind: Widget").GroupVersionKind(), "")
	request := apiserver.Request{Kind: widgets, Verb: "create", Namespace: "shop", Name: "a"}
	for _, test := range []struct {
		reason, rules string
		codes         []int32
		says          string
	}{
		{"no rule", "", []int32{0, 0, 0}, ""},
		{"forbidden, each time", "calls: [{match: {kind: Widget}, forbidden: true}]", []int32{403, 403, 403}, `widgets.example.org "a" is forbidden: User "landscaper" cannot create resource "widgets" in API group "example.org"`},
		{"fails with a code", "calls: [{match: {}, fail: {code: 503}}]", []int32{503, 503, 503}, "a rule of the landscape lets this request fail: Service Unavailable"},
		{"fails with a message", "calls: [{match: {}, fail: {code: 409, message: another user was faster}}]", []int32{409, 409, 409}, "another user was faster"},
		{"some times", "calls: [{match: {}, times: 2, fail: {code: 500}}]", []int32{500, 500, 0}, "Internal Server Error"},
		{"after some times, the next rule", "calls: [{match: {}, times: 1, fail: {code: 503}}, {match: {}, times: 1, forbidden: true}]", []int32{503, 403, 0}, "forbids it"},
		{"another verb does not count", "calls: [{match: {}, verbs: [delete], times: 1, fail: {code: 500}}]", []int32{0, 0, 0}, ""},
		{"another cluster does not count", "calls: [{match: {cluster: core}, forbidden: true}]", []int32{0, 0, 0}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			landscape, err := Parse(FileName, []byte("apiVersion: "+APIVersion+"\nkind: "+Kind+"\n"+test.rules))
			if err != nil {
				t.Fatal(err)
			}
			codes, last := answers(t, NewEngine(landscape.Behaviour, nil, nil).Intercept("edge"), request, 3)
			if !reflect.DeepEqual(codes, test.codes) {
				t.Errorf("%v, want %v", codes, test.codes)
			}
			if said := fmt.Sprint(last); test.says != "" && !strings.Contains(said, test.says) {
				t.Errorf("%q, want %q", said, test.says)
			}
		})
	}
}

// TestDelay: an answer takes its time, unless its client ends the request.
func TestDelay(t *testing.T) {
	request := apiserver.Request{Kind: apiserver.NewKind(widget().GroupVersionKind(), ""), Verb: "get"}
	for _, test := range []struct {
		reason      string
		fail        *Failure
		limit, took time.Duration
		code        int32
		err         error
	}{
		{reason: "the usual answer", limit: 2 * time.Hour, took: time.Hour},
		{reason: "an answer that fails", fail: &Failure{Code: 504}, limit: 2 * time.Hour, took: time.Hour, code: 504},
		{reason: "the client ends the request", limit: time.Minute, took: time.Minute, err: context.DeadlineExceeded},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engine := NewEngine(Behaviour{Calls: []Call{{Delay: metav1.Duration{Duration: time.Hour}, Fail: test.fail}}}, nil, nil)
				ctx, cancel := context.WithTimeout(t.Context(), test.limit)
				defer cancel()
				began := time.Now()
				err := engine.Intercept("edge")(ctx, request)
				if took := time.Since(began); took != test.took {
					t.Errorf("it took %s, want %s", took, test.took)
				}
				var known apierrors.APIStatus
				switch {
				case test.err != nil && !errors.Is(err, test.err), test.code == 0 && test.err == nil && err != nil:
					t.Error(err)
				case test.code != 0 && (!errors.As(err, &known) || known.Status().Code != test.code):
					t.Errorf("%v, want the code %d", err, test.code)
				}
			})
		})
	}
}
