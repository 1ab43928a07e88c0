package desired

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// stored returns an object as the API server returns it: decoded from its wire form.
func stored[T any](t *testing.T, object *T) *T {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	back := new(T)
	if err := json.Unmarshal(raw, back); err != nil {
		t.Fatal(err)
	}
	return back
}

func installation() *v1alpha1.Installation {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shop", UID: "uid-inst"}}
	inst.Spec.Context, inst.Status.JobID = "default", "job-2"
	return inst
}

func execution() *v1alpha1.Execution {
	exec := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shop", UID: "uid-exec"}}
	exec.Spec.Context = "default"
	return exec
}

func fullTemplate(t *testing.T) v1alpha1.DeployItemTemplate {
	t.Helper()
	template := v1alpha1.DeployItemTemplate{}
	filled(t, reflect.ValueOf(&template).Elem(), "template")
	return template
}

// TestEveryFieldTwice: with every field set, the first job creates each kind, the second one
// changes nothing and does not panic.
func TestEveryFieldTwice(t *testing.T) {
	inst, exec, template := installation(), execution(), fullTemplate(t)
	inst.Annotations = map[string]string{v1alpha1.CacheHelmChartsAnnotation: "true"}
	exec.Annotations = inst.Annotations
	full := func(meta *metav1.ObjectMeta) {
		filled(t, reflect.ValueOf(meta).Elem(), "metadata")
		meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "shop", UID: "uid-inst"}}
	}
	data, target := &v1alpha1.DataObject{}, &v1alpha1.Target{}
	filled(t, reflect.ValueOf(data).Elem(), "data")
	filled(t, reflect.ValueOf(target).Elem(), "target")
	full(&data.ObjectMeta)
	full(&target.ObjectMeta)
	kinds := map[string]func(t *testing.T) (first, second Change, err error){
		"Execution": func(t *testing.T) (Change, Change, error) {
			items := v1alpha1.DeployItemTemplateList{template}
			live, first, err := Execution(inst, items, nil)
			if err != nil {
				return "", "", err
			}
			_, second, err := Execution(inst, items, stored(t, live))
			return first, second, err
		},
		"DeployItem": func(t *testing.T) (Change, Change, error) {
			live, first, err := DeployItem(exec, &template, nil, nil, 0, noon)
			if err != nil {
				return "", "", err
			}
			_, second, err := DeployItem(exec, &template, stored(t, live), nil, 0, noon.Add(time.Hour))
			return first, second, err
		},
		"DataObject": func(t *testing.T) (Change, Change, error) {
			live, first, err := DataCopy(inst, data, nil)
			if err != nil {
				return "", "", err
			}
			_, second, err := DataCopy(inst, data, stored(t, live))
			return first, second, err
		},
		"Target": func(t *testing.T) (Change, Change, error) {
			live, first, err := TargetCopy(inst, target, nil)
			if err != nil {
				return "", "", err
			}
			_, second, err := TargetCopy(inst, target, stored(t, live))
			return first, second, err
		},
		"exports": func(t *testing.T) (Change, Change, error) {
			values := map[string]any{"one": map[string]any{"a": 1, "b": []any{"x", nil}}, "two": nil}
			live, first, err := ItemExports(exec, values, nil)
			if err != nil {
				return "", "", err
			}
			_, second, err := ItemExports(exec, values, stored(t, live))
			return first, second, err
		},
	}
	for kind, twice := range kinds {
		t.Run(kind, func(t *testing.T) {
			var first, second Change
			err := job.RecoverPanic(func() (err error) {
				first, second, err = twice(t)
				return err
			})
			if err != nil || first != Create || second != None {
				t.Errorf("%s, then %s: %v", first, second, err)
			}
		})
	}
}

// TestEveryFieldCounts: a change of any field of an item is written.
func TestEveryFieldCounts(t *testing.T) {
	exec, template := execution(), fullTemplate(t)
	live, _, err := DeployItem(exec, &template, nil, nil, 0, noon)
	if err != nil {
		t.Fatal(err)
	}
	fields := reflect.TypeFor[v1alpha1.DeployItemTemplate]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		if name == "Labels" {
			continue // what others may have added is not taken away
		}
		t.Run(name, func(t *testing.T) {
			changed := template.DeepCopy()
			field := reflect.ValueOf(changed).Elem().Field(i)
			field.Set(reflect.Zero(field.Type()))
			item, change, err := DeployItem(exec, changed, stored(t, live), nil, 0, noon.Add(time.Hour))
			if err != nil || change != Update {
				t.Fatalf("%s, %v", change, err)
			}
			if at := item.Annotations[v1alpha1.ReconcileTimeAnnotation]; at != "2030-01-02T13:00:00Z" {
				t.Errorf("the deployer is not told: %s", at)
			}
		})
	}
}

func TestDeployItem(t *testing.T) {
	exec := execution()
	template := &v1alpha1.DeployItemTemplate{Name: "web", Type: "example.org/x", DependsOn: []string{"a", "b"}, Labels: map[string]string{"team": "a"}}
	item, _, err := DeployItem(exec, template, nil, nil, 0, noon)
	if err != nil {
		t.Fatal(err)
	}
	other, _, _ := DeployItem(exec, template, nil, nil, 1, noon)
	switch {
	case !strings.HasPrefix(item.Name, "shop-web-") || item.Name == other.Name:
		t.Errorf("names %s, %s", item.Name, other.Name)
	case item.Labels["team"] != "a" || item.Labels[v1alpha1.ExecutionManagedByLabel] != "shop" || item.Labels[v1alpha1.ExecutionManagedNameLabel] != "web":
		t.Errorf("labels %v", item.Labels)
	case item.Annotations[v1alpha1.ExecutionDependsOnAnnotation] != "a,b" || item.Annotations[v1alpha1.DeployerTargetNameAnnotation] != v1alpha1.NoTargetNameValue || item.Annotations[v1alpha1.DeployerTypeAnnotation] != "example.org/x":
		t.Errorf("annotations %v", item.Annotations)
	case !slices.Equal(item.Finalizers, []string{v1alpha1.Finalizer}) || !(job.Owner{Kind: "Execution", Object: exec}).Owns(item) || !*item.OwnerReferences[0].Controller:
		t.Errorf("metadata %+v", item.ObjectMeta)
	}
	// What others have added stays, also if the item changes.
	live := stored(t, item)
	live.Labels["theirs"], live.Annotations["theirs"] = "l", "a"
	live.Finalizers = append(live.Finalizers, "theirs")
	template.Type = "example.org/y"
	changed, change, err := DeployItem(exec, template, live, nil, 0, noon)
	if err != nil || change != Update || changed.Labels["theirs"] != "l" || changed.Annotations["theirs"] != "a" || len(changed.Finalizers) != 2 || changed.Name != item.Name {
		t.Errorf("%s, %v: %+v", change, err, changed.ObjectMeta)
	}
	if live.Spec.Type != "example.org/x" {
		t.Error("what is there is not touched")
	}
}

// TestLabelsOfDeployItem: which labels stay when the template has others.
func TestLabelsOfDeployItem(t *testing.T) {
	for _, test := range []struct {
		reason string
		before map[string]string
		// theirs are labels and annotations that others have changed meanwhile.
		theirs func(*v1alpha1.DeployItem)
		after  map[string]string
		want   string
	}{
		{"the first ones", nil, nil, map[string]string{"team": "a"}, "team=a"},
		{"a label that the template no longer has is removed", map[string]string{"team": "a", "tier": "web"}, nil, map[string]string{"tier": "db"}, "tier=db"},
		{"all labels that the template no longer has are removed", map[string]string{"team": "a"}, nil, nil, ""},
		{"labels of others stay", map[string]string{"team": "a"}, func(i *v1alpha1.DeployItem) { i.Labels["theirs"] = "l" }, nil, "theirs=l"},
		{"upstream does not record the owner of labels, so that they stay", map[string]string{"team": "a"}, func(i *v1alpha1.DeployItem) {
			delete(i.Annotations, v1alpha1.ExecutionTemplateLabelsAnnotation)
		}, nil, "team=a"},
		{"ours stay, whatever a template has written over them", map[string]string{v1alpha1.ExecutionManagedByLabel: "x"}, nil, nil, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			template := &v1alpha1.DeployItemTemplate{Name: "web", Type: "example.org/x", Labels: test.before}
			live, _, err := DeployItem(execution(), template, nil, nil, 0, noon)
			if err != nil {
				t.Fatal(err)
			}
			if test.theirs != nil {
				test.theirs(live)
			}
			template.Labels = test.after
			item, _, err := DeployItem(execution(), template, stored(t, live), nil, 0, noon)
			if err != nil || item.Labels[v1alpha1.ExecutionManagedByLabel] != "shop" || item.Labels[v1alpha1.ExecutionManagedNameLabel] != "web" {
				t.Fatalf("%v, labels %v", err, item.Labels)
			}
			if _, change, err := DeployItem(execution(), template, stored(t, item), nil, 0, noon); err != nil || change != None {
				t.Errorf("once more: %s, %v", change, err)
			}
			delete(item.Labels, v1alpha1.ExecutionManagedByLabel)
			delete(item.Labels, v1alpha1.ExecutionManagedNameLabel)
			if got := labels.Set(item.Labels).String(); got != test.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestClusterOfDeployItem: an item that has moved to another Target does not stay behind
// when the shoot of the one before goes.
func TestClusterOfDeployItem(t *testing.T) {
	for _, test := range []struct {
		reason        string
		before, after *string
		change        Change
		want          string
	}{
		{"a shoot", new("eu"), new("eu"), None, "eu"},
		{"another shoot", new("eu"), new("us"), Update, "us"},
		{"a Target that no shoot is behind", new("eu"), new(""), Update, ""},
		{"a Target that is missing for a moment", new("eu"), nil, None, "eu"},
		{"none before", nil, new("eu"), Update, "eu"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			template := &v1alpha1.DeployItemTemplate{Name: "web", Type: "example.org/x"}
			live, _, err := DeployItem(execution(), template, nil, test.before, 0, noon)
			if err != nil {
				t.Fatal(err)
			}
			item, change, err := DeployItem(execution(), template, stored(t, live), test.after, 0, noon)
			if got := item.Annotations[v1alpha1.ClusterNameAnnotation]; err != nil || change != test.change || got != test.want {
				t.Errorf("%s with shoot %q, %v; want %s, %q", change, got, err, test.change, test.want)
			}
		})
	}
}

// TestExecution: what an Installation wants of its Execution.
func TestExecution(t *testing.T) {
	config := func(text string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(text)} }
	one := v1alpha1.DeployItemTemplateList{{Name: "a", Type: "x", Configuration: config(`{"apiVersion":"v1","kind":"C","n":1}`)}}
	live := func(items v1alpha1.DeployItemTemplateList, change func(*v1alpha1.Execution)) *v1alpha1.Execution {
		exec, _, err := Execution(installation(), items, nil)
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(exec)
		}
		return stored(t, exec)
	}
	for _, test := range []struct {
		reason string
		items  v1alpha1.DeployItemTemplateList
		live   *v1alpha1.Execution
		want   Change
	}{
		{"no items, no Execution", nil, nil, None},
		{"the first items", one, nil, Create},
		{"unchanged items", one, live(one, nil), None},
		{"unchanged items, written in another way", v1alpha1.DeployItemTemplateList{{Name: "a", Type: "x", Configuration: config(`{ "n": 1.0, "kind": "C", "apiVersion": "v1" }`)}}, live(one, nil), None},
		{"items with another number", v1alpha1.DeployItemTemplateList{{Name: "a", Type: "x", Configuration: config(`{"apiVersion":"v1","kind":"C","n":2}`)}}, live(one, nil), Update},
		{"other items", v1alpha1.DeployItemTemplateList{{Name: "b", Type: "x", Configuration: one[0].Configuration}}, live(one, nil), Update},
		{"no items any more: the old ones have to go", nil, live(one, nil), Update},
		{"another Context", one, live(one, func(e *v1alpha1.Execution) { e.Spec.Context = "old" }), Update},
		{"an annotation went", one, live(one, func(e *v1alpha1.Execution) { e.Annotations[v1alpha1.CacheHelmChartsAnnotation] = "true" }), Update},
		{"annotations and labels of others are theirs", one, live(one, func(e *v1alpha1.Execution) {
			e.Annotations["theirs"] = "a"
			e.Labels = map[string]string{"theirs": "l"}
		}), None},
		{"without any annotation", one, live(one, func(e *v1alpha1.Execution) { e.Annotations = nil }), None},
		{"compressed by upstream", one, live(one, func(e *v1alpha1.Execution) { compress(t, e) }), None},
		{"what cannot be read is replaced", one, live(one, func(e *v1alpha1.Execution) { e.Spec.DeployItemsCompressed = []byte("x") }), Update},
	} {
		t.Run(test.reason, func(t *testing.T) {
			exec, change, err := Execution(installation(), test.items, test.live)
			if err != nil || change != test.want {
				t.Fatalf("%s, %v, want %s", change, err, test.want)
			}
			if exec == nil {
				return
			}
			if items, err := exec.Spec.Items(); err != nil || len(items) != len(test.items) || exec.Spec.Context != "default" {
				t.Errorf("%+v, %v", exec.Spec, err)
			}
		})
	}
}

// compress stores the items of an Execution in the other form.
func compress(t *testing.T, exec *v1alpha1.Execution) {
	t.Helper()
	raw, err := json.Marshal(exec.Spec.DeployItems)
	if err != nil {
		t.Fatal(err)
	}
	var compressed bytes.Buffer
	writer := gzip.NewWriter(&compressed)
	if _, err := writer.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	exec.Spec.DeployItems, exec.Spec.DeployItemsCompressed = nil, compressed.Bytes()
}

// TestSame: what counts is what a client of the API server sees.
func TestSame(t *testing.T) {
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	invalid := v1alpha1.Duration{}
	if err := json.Unmarshal([]byte(`"soon"`), &invalid); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason string
		a, b   any
		want   bool
	}{
		{"the order of fields does not count", raw(`{"a":1,"b":2}`), raw(`{"b":2,"a":1}`), true},
		{"the order of a list counts", raw(`[1,2]`), raw(`[2,1]`), false},
		{"1 equals 1.0", raw(`1`), raw(`1.0`), true},
		{"large numbers keep their digits", raw(`9007199254740993`), raw(`9007199254740992`), false},
		{"a number is not a string", raw(`1`), raw(`"1"`), false},
		{"nothing is not null in a field that shows it", raw(`{"a":null}`), raw(`{}`), false},
		{"a type with a field that cannot be compared", v1alpha1.NewDuration(time.Minute), v1alpha1.NewDuration(time.Minute), true},
		{"a type with a field that cannot be compared, with another value", v1alpha1.NewDuration(time.Minute), v1alpha1.NewDuration(time.Hour), false},
		{"a duration in two spellings", v1alpha1.NewDuration(time.Minute), raw(`"1m0s"`), true},
		{"a wrong one", &invalid, raw(`"soon"`), true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got, err := Same(test.a, test.b); got != test.want || err != nil {
				t.Errorf("%t, %v", got, err)
			}
		})
	}
	if _, err := Same(make(chan int), 1); err == nil {
		t.Error("what has no wire form cannot be compared")
	}
	if _, err := Same(1, make(chan int)); err == nil {
		t.Error("what has no wire form cannot be compared")
	}
}

// TestCopies: who else has put what onto a copy, and what of it stays.
func TestCopies(t *testing.T) {
	reference := func(kind, name, uid string) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Name: name, UID: types.UID("uid-" + uid)}
	}
	mine, theirs := reference("Installation", "shop", "inst"), reference("Execution", "other", "9")
	wantedCopy := func() *v1alpha1.Target {
		return &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{
			Name: "copy", Namespace: "n", Labels: map[string]string{v1alpha1.DataObjectKeyLabel: "cluster", v1alpha1.DataObjectJobIDLabel: "job-2"},
			OwnerReferences: []metav1.OwnerReference{mine},
		}, Spec: v1alpha1.TargetSpec{Type: "x"}}
	}
	for _, test := range []struct {
		reason string
		change func(*v1alpha1.Target)
		want   Change
		check  func(*v1alpha1.Target) bool
	}{
		{"as it is wanted", func(*v1alpha1.Target) {}, None, nil},
		{"of an earlier job", func(live *v1alpha1.Target) { live.Labels[v1alpha1.DataObjectJobIDLabel] = "job-1" }, Update, nil},
		{"with another content", func(live *v1alpha1.Target) { live.Spec.Type = "y" }, Update, func(got *v1alpha1.Target) bool { return got.Spec.Type == "x" }},
		{"a list became a single Target", func(live *v1alpha1.Target) { live.Labels[v1alpha1.DataObjectIndexLabel] = "3" }, Update, func(got *v1alpha1.Target) bool { return len(got.Labels) == 2 }},
		{"with a label of others", func(live *v1alpha1.Target) { live.Labels["team"] = "a" }, None, nil},
		{"with another owner", func(live *v1alpha1.Target) { live.OwnerReferences = []metav1.OwnerReference{theirs, mine} }, None, nil},
		{"of an earlier Installation of the name", func(live *v1alpha1.Target) {
			live.OwnerReferences = []metav1.OwnerReference{reference("Installation", "shop", "old"), theirs}
		}, Update, func(got *v1alpha1.Target) bool {
			return slices.Equal(got.OwnerReferences, []metav1.OwnerReference{theirs, mine})
		}},
		{"that a sibling has exported before", func(live *v1alpha1.Target) {
			live.OwnerReferences = []metav1.OwnerReference{reference("Installation", "sibling", "other"), theirs}
		}, Update, func(got *v1alpha1.Target) bool {
			return slices.Equal(got.OwnerReferences, []metav1.OwnerReference{theirs, mine})
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			live := wantedCopy()
			test.change(live)
			got, change, err := TargetCopy(installation(), wantedCopy(), stored(t, live))
			if err != nil || change != test.want || test.check != nil && !test.check(got) {
				t.Errorf("%s, %v: %+v", change, err, got)
			}
		})
	}
}

// TestStale: only what belongs to the Installation and was not written by its job.
func TestStale(t *testing.T) {
	for _, test := range []struct {
		reason, jobID, kind, uid string
		want                     bool
	}{
		{"of this job", "job-2", "Installation", "uid-inst", false},
		{"of an earlier job", "job-1", "Installation", "uid-inst", true},
		{"of another Installation", "job-1", "Installation", "uid-other", false},
		{"of another kind", "job-1", "Execution", "uid-inst", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			object := &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{
				Labels:          map[string]string{v1alpha1.DataObjectJobIDLabel: test.jobID},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: test.kind, Name: "shop", UID: types.UID(test.uid)}},
			}}
			if got := Stale(installation(), object); got != test.want {
				t.Errorf("%t", got)
			}
		})
	}
}

// TestItemExports: the object is written only if it says something else.
func TestItemExports(t *testing.T) {
	exec := execution()
	live, change, err := ItemExports(exec, map[string]any{"a": map[string]any{"x": 1}}, nil)
	if err != nil || change != Create || live.Name != ItemExportsName(exec) || live.Annotations[v1alpha1.DataObjectHashAnnotation] == "" {
		t.Fatalf("%s, %v: %+v", change, err, live)
	}
	live.ResourceVersion = "7"
	for _, test := range []struct {
		reason  string
		exports map[string]any
		change  func(*v1alpha1.DataObject)
		want    Change
	}{
		{"an unchanged value", map[string]any{"a": map[string]any{"x": 1}}, nil, None},
		{"another value", map[string]any{"a": map[string]any{"x": 2}}, nil, Update},
		{"an Execution of the name that was deleted", map[string]any{"a": map[string]any{"x": 1}}, func(d *v1alpha1.DataObject) { d.OwnerReferences[0].UID = "old" }, Update},
	} {
		t.Run(test.reason, func(t *testing.T) {
			there := stored(t, live)
			if test.change != nil {
				test.change(there)
			}
			got, change, err := ItemExports(exec, test.exports, there)
			if err != nil || change != test.want || got.ResourceVersion != "7" {
				t.Errorf("%s, %v: %s", change, err, fmt.Sprint(got.ResourceVersion))
			}
		})
	}
	if _, _, err := ItemExports(exec, map[string]any{"a": make(chan int)}, nil); err == nil {
		t.Error("what cannot be encoded is an error")
	}
}

// unchangedItem compares an item of a usual size with what its Execution wants, as each
// job without a change does.
func unchangedItem(tb testing.TB) func() {
	tb.Helper()
	config := `{"apiVersion":"manifest.deployer.landscaper.gardener.cloud/v1alpha2","kind":"ProviderConfiguration","manifests":[{"manifest":{"apiVersion":"v1","data":{"greeting":"hello","size":"3"},"kind":"ConfigMap","metadata":{"labels":{"app":"shop"},"name":"settings","namespace":"shop"}},"policy":"manage"}],"updateStrategy":"update"}`
	template := &v1alpha1.DeployItemTemplate{Name: "one", Type: v1alpha1.ManifestDeployItemType, Configuration: &runtime.RawExtension{Raw: []byte(config)}}
	live, _, err := DeployItem(execution(), template, nil, nil, 0, noon)
	if err != nil {
		tb.Fatal(err)
	}
	return func() {
		if _, change, err := DeployItem(execution(), template, live, nil, 0, noon); err != nil || change != None {
			tb.Fatal(change, err)
		}
	}
}

func BenchmarkUnchangedItem(b *testing.B) {
	compare := unchangedItem(b)
	b.ReportAllocs()
	for b.Loop() {
		compare()
	}
}

// TestUnchangedItemIsCheap: what is the same is not decoded to compare it.
func TestUnchangedItemIsCheap(t *testing.T) {
	const most = 70
	if got := testing.AllocsPerRun(20, unchangedItem(t)); got > most {
		t.Errorf("%.0f allocations, at most %d", got, most)
	}
}
