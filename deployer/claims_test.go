package deployer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/placement"
	"go.landscaper.dev/internal/runtime/job"
)

// aConfigMap is the object that items of these tests want, or do not.
var aConfigMap = corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a"}

const (
	listsIt = `{"manifests":[{"manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n"}}}]}`
	empty   = `{"manifests":[]}`
)

// tree is an Installation with its Execution and items, the first of which is ours.
type tree struct {
	installation *v1alpha1.Installation
	execution    *v1alpha1.Execution
	items        []*v1alpha1.DeployItem
	others       []client.Object
}

// newTree returns a tree in the middle of a job. All items are of type manifest.
func newTree(t *testing.T, names ...string) *tree {
	t.Helper()
	tree := &tree{
		installation: &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "shop", UID: "i"}},
		execution: &v1alpha1.Execution{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "shop", UID: "e"},
			Status:     v1alpha1.ExecutionStatus{JobID: "two", JobIDFinished: "one", DeployItemCache: &v1alpha1.DeployItemCache{}},
		},
	}
	for i, name := range names {
		item := relative(name, "two", "one", v1alpha1.DeployItemPhases.Progressing, "")
		item.Spec.Type, item.Spec.Configuration = v1alpha1.ManifestDeployItemType, &runtime.RawExtension{Raw: []byte(empty)}
		item.Spec.Target = &v1alpha1.ObjectReference{Name: "cluster", Namespace: key.Namespace}
		item.Generation, item.Finalizers = 1, []string{v1alpha1.Finalizer}
		if i == 0 {
			item.Name, item.Spec.Type = key.Name, "test"
		}
		tree.items = append(tree.items, item)
	}
	for _, name := range []string{"cluster", "copy", "elsewhere"} {
		content := `{"kubeconfig":"x"}`
		if name == "elsewhere" {
			content = `{"kubeconfig":"y"}`
		}
		tree.others = append(tree.others, &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name}, Spec: v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: v1alpha1.NewAnyJSONPointer([]byte(content))}})
	}
	tree.want(t, tree.items...)
	return tree
}

// want lets the Execution want items as they are now.
func (tree *tree) want(t *testing.T, items ...*v1alpha1.DeployItem) {
	t.Helper()
	var templates v1alpha1.DeployItemTemplateList
	tree.execution.Status.DeployItemCache.ActiveDIs = nil
	for _, item := range items {
		name := item.Labels[v1alpha1.ExecutionManagedNameLabel]
		templates = append(templates, v1alpha1.DeployItemTemplate{Name: name, Type: item.Spec.Type, Target: item.Spec.Target, Configuration: item.Spec.Configuration})
		tree.execution.Status.DeployItemCache.ActiveDIs = append(tree.execution.Status.DeployItemCache.ActiveDIs, v1alpha1.DiNamePair{SpecName: name, ObjectName: item.Name})
	}
	if err := tree.execution.Spec.SetItems(templates); err != nil {
		t.Fatal(err)
	}
}

// on lets an item have recorded that it is on a cluster, and has objects on earlier ones.
func on(item *v1alpha1.DeployItem, cluster string, earlier ...string) {
	record := apideployer.ClusterRecord{Cluster: &apideployer.ClusterIdentity{ID: cluster, Target: item.Spec.Target.Name}}
	for _, id := range earlier {
		record.EarlierClusters = append(record.EarlierClusters, apideployer.EarlierCluster{ClusterIdentity: apideployer.ClusterIdentity{ID: id}})
	}
	written, err := placement.Write([]byte(`{}`), record)
	if err != nil {
		panic(err)
	}
	item.Status.ProviderStatus = &runtime.RawExtension{Raw: written}
}

// stage puts the tree where the reconciler sees it and lets the deployer of the first item do
// something in its job.
func (tree *tree) stage(t *testing.T, do func(ctx context.Context, item *Item) error) *stage {
	t.Helper()
	objects := slices.Clone(tree.others)
	if tree.installation != nil {
		objects = append(objects, tree.installation)
	}
	if tree.execution != nil {
		objects = append(objects, tree.execution)
	}
	for _, item := range tree.items {
		objects = append(objects, item)
	}
	work := func(ctx context.Context, item *Item) (Result, error) { return Done(), do(ctx, item) }
	return onStage(t, &script{reconcile: work, remove: work}, objects...)
}

func (tree *tree) look(t *testing.T, do func(ctx context.Context, item *Item) error) {
	t.Helper()
	called := false
	tree.stage(t, func(ctx context.Context, item *Item) error {
		called = true
		return do(ctx, item)
	}).look()
	if !called {
		t.Fatal("the deployer was not called")
	}
}

func TestOthers(t *testing.T) {
	tests := []struct {
		reason string
		change func(t *testing.T, tree *tree)
		want   []string
	}{
		{"items on the same cluster", func(*testing.T, *tree) {}, []string{"a", "b"}},
		{"an item whose Target has the same content counts", func(t *testing.T, tree *tree) { tree.items[1].Spec.Target.Name = "copy"; tree.want(t, tree.items...) }, []string{"a", "b"}},
		{"an item on another cluster is left out", func(t *testing.T, tree *tree) {
			tree.items[1].Spec.Target.Name = "elsewhere"
			on(tree.items[0], "1")
			on(tree.items[1], "2")
			tree.want(t, tree.items...)
		}, []string{"b"}},
		{"an item on the same cluster by another Target counts", func(t *testing.T, tree *tree) {
			tree.items[1].Spec.Target.Name = "elsewhere"
			on(tree.items[0], "1")
			on(tree.items[1], "1")
			tree.want(t, tree.items...)
		}, []string{"a", "b"}},
		{"an item whose missing Target led to another cluster is left out", func(t *testing.T, tree *tree) {
			tree.items[1].Spec.Target.Name = "missing"
			on(tree.items[0], "1")
			on(tree.items[1], "2")
			tree.want(t, tree.items...)
		}, []string{"b"}},
		{"an item whose cluster is not known counts as long as objects are kept", func(t *testing.T, tree *tree) {
			tree.items[1].Spec.Target.Name = "elsewhere"
			tree.want(t, tree.items...)
		}, []string{"a", "b"}},
		{"an item whose cluster is not known is left out in the removal round", func(t *testing.T, tree *tree) {
			tree.items[1].Spec.Target.Name = "elsewhere"
			tree.items[0].Status.JobID, tree.execution.Status.JobID = job.RemovalOf("two"), job.RemovalOf("two")
			tree.want(t, tree.items...)
		}, []string{"b"}},
		{"an item that is being deleted is left out", func(_ *testing.T, tree *tree) {
			tree.items[1].DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time}
		}, []string{"b"}},
		{"an item that the Execution does not want any more is left out", func(t *testing.T, tree *tree) { tree.want(t, tree.items[0], tree.items[2]) }, []string{"b"}},
		{"an item that the cache does not show yet counts", func(t *testing.T, tree *tree) { tree.items = tree.items[:2] }, []string{"a", "b"}},
		{"an item of another Execution counts", func(_ *testing.T, tree *tree) { tree.items[1].Labels[v1alpha1.ExecutionManagedByLabel] = "other" }, []string{"a", "b"}},
		{"an item of another namespace is left out", func(t *testing.T, tree *tree) {
			tree.items[1].Namespace = "other"
			tree.want(t, tree.items[0], tree.items[2])
		}, []string{"b"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			tree := newTree(t, "self", "a", "b")
			test.change(t, tree)
			tree.look(t, func(ctx context.Context, item *Item) error {
				others, err := item.Others(ctx)
				// In the order of their names, whatever order a cache has.
				names := namesOf(others)
				if err != nil || !slices.Equal(names, test.want) {
					t.Errorf("%v, %v, want %v", names, err, test.want)
				}
				return nil
			})
		})
	}
	t.Run("what the Execution wants counts where the cache shows an older item", func(t *testing.T) {
		tree := newTree(t, "self", "a")
		before := tree.items[1].DeepCopy()
		tree.items[1].Spec.Configuration.Raw = []byte(listsIt)
		tree.want(t, tree.items...)
		tree.items[1] = before
		tree.look(t, func(ctx context.Context, item *Item) error {
			others, err := item.Others(ctx)
			if err != nil || len(others) != 1 || string(others[0].Spec.Configuration.Raw) != listsIt {
				t.Errorf("%v, %v", others, err)
			}
			return nil
		})
	})
}

func TestMayMove(t *testing.T) {
	tests := []struct {
		reason     string
		change     func(t *testing.T, tree *tree)
		keep, move bool
	}{
		{"a root whose items say all that they want", func(*testing.T, *tree) {}, true, false},
		{"another item has a chart", func(t *testing.T, tree *tree) {
			tree.items[1].Spec.Type = v1alpha1.HelmDeployItemType
			tree.want(t, tree.items...)
		}, true, true},
		{"a subinstallation", func(_ *testing.T, tree *tree) {
			tree.installation.Labels = map[string]string{v1alpha1.EncompassedByLabel: "root"}
		}, true, true},
		{"an Installation with subinstallations", func(_ *testing.T, tree *tree) {
			tree.installation.Status.SubInstCache = &v1alpha1.SubInstCache{ActiveSubs: []v1alpha1.SubNamePair{{SpecName: "sub"}}}
		}, true, true},
		{"an Installation whose subinstallations go", func(_ *testing.T, tree *tree) {
			tree.installation.Status.SubInstCache = &v1alpha1.SubInstCache{OrphanedSubs: []string{"sub"}}
		}, true, true},
		{"a user who wants removals first", func(_ *testing.T, tree *tree) {
			tree.installation.Labels = map[string]string{v1alpha1.EncompassedByLabel: "root"}
			tree.installation.Annotations = map[string]string{v1alpha1.RemoveFirstAnnotation: "true"}
		}, false, false},
		{"a user who wants removals first in the whole tree", func(_ *testing.T, tree *tree) {
			root := tree.installation.DeepCopy()
			root.Name, root.Annotations = "root", map[string]string{v1alpha1.RemoveFirstAnnotation: "true"}
			tree.others = append(tree.others, root)
			tree.installation.Labels = map[string]string{v1alpha1.EncompassedByLabel: "root"}
		}, false, false},
		{"a removal round", func(_ *testing.T, tree *tree) {
			tree.installation.Labels = map[string]string{v1alpha1.EncompassedByLabel: "root"}
			tree.items[0].Status.JobID, tree.execution.Status.JobID = job.RemovalOf("two"), job.RemovalOf("two")
		}, false, false},
		{"a job of the item alone: the next job of the tree removes it", func(_ *testing.T, tree *tree) {
			tree.installation.Labels = map[string]string{v1alpha1.EncompassedByLabel: "root"}
			tree.execution.Status.JobID = "one"
		}, true, true},
		{"an interruption has ended the job of the Execution", func(_ *testing.T, tree *tree) {
			tree.installation.Labels = map[string]string{v1alpha1.EncompassedByLabel: "root"}
			tree.execution.Status.JobIDFinished = "two"
		}, true, true},
		{"an Execution without Installation", func(_ *testing.T, tree *tree) { tree.installation = nil }, false, false},
		{"an item without Execution", func(_ *testing.T, tree *tree) { tree.items[0].Labels = nil }, false, false},
		{"an item that is being deleted", func(_ *testing.T, tree *tree) {
			tree.installation.Labels = map[string]string{v1alpha1.EncompassedByLabel: "root"}
			tree.items[0].DeletionTimestamp, tree.items[0].Status.Phase = &metav1.Time{Time: metav1.Now().Time}, v1alpha1.DeployItemPhases.Deleting
		}, false, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			tree := newTree(t, "self", "a")
			test.change(t, tree)
			tree.look(t, func(ctx context.Context, item *Item) error {
				keep, err := item.MayKeep(ctx)
				move, err2 := item.MayMove(ctx)
				if err != nil || err2 != nil || keep != test.keep || move != test.move {
					t.Errorf("may keep: %t, %v, may move: %t, %v", keep, err, move, err2)
				}
				return nil
			})
		})
	}
	for _, owned := range []bool{false, true} {
		t.Run(fmt.Sprintf("a deployer that may not read Installations keeps what the Execution of one has: %t", owned), func(t *testing.T) {
			tree := newTree(t, "self", "a")
			if owned {
				tree.execution.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "shop", UID: "i"}}
			}
			s := tree.stage(t, func(ctx context.Context, item *Item) error {
				if move, err := item.MayMove(ctx); err != nil || move != owned {
					t.Errorf("may move: %t, %v", move, err)
				}
				return nil
			})
			s.reconciler.live = interceptor.NewClient(s.reconciler.client.(client.WithWatch), interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
					if _, is := object.(*v1alpha1.Installation); is {
						return apierrors.NewForbidden(schema.GroupResource{Resource: "installations"}, key.Name, nil)
					}
					return c.Get(ctx, key, object)
				},
			})
			s.look()
		})
	}
	t.Run("a deployer that may not read Executions keeps what may be wanted", func(t *testing.T) {
		s := newTree(t, "self", "a").stage(t, func(ctx context.Context, item *Item) error {
			if move, err := item.MayMove(ctx); err != nil || !move {
				t.Errorf("may move: %t, %v", move, err)
			}
			if others, err := item.Others(ctx); err != nil || len(others) != 1 {
				t.Errorf("%v, %v", others, err)
			}
			return nil
		})
		s.reconciler.live = interceptor.NewClient(s.reconciler.client.(client.WithWatch), interceptor.Funcs{
			Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "executions"}, key.Name, nil)
			},
		})
		s.look()
		s.expect("Succeeded", true, "")
	})
}

func TestYields(t *testing.T) {
	held := []v1alpha1.Condition{{Type: v1alpha1.PendingRemovalsCondition, Status: v1alpha1.ConditionTrue, Reason: "NotWanted"}}
	tests := []struct {
		reason string
		change func(t *testing.T, tree *tree, holder *v1alpha1.DeployItem)
		want   bool
	}{
		{"the holder lists it", func(t *testing.T, tree *tree, holder *v1alpha1.DeployItem) {}, false},
		{"the holder does not list it any more", func(t *testing.T, tree *tree, holder *v1alpha1.DeployItem) {
			holder.Spec.Configuration.Raw = []byte(empty)
			tree.want(t, tree.items...)
		}, true},
		{"the Execution wants another holder than the cache shows", func(t *testing.T, tree *tree, holder *v1alpha1.DeployItem) {
			before := holder.DeepCopy()
			holder.Spec.Configuration.Raw = []byte(empty)
			tree.want(t, tree.items...)
			tree.items[1] = before
		}, true},
		{"what a chart wants is not known", func(t *testing.T, tree *tree, holder *v1alpha1.DeployItem) {
			holder.Spec.Type, holder.Spec.Configuration.Raw = v1alpha1.HelmDeployItemType, []byte(`{}`)
			tree.want(t, tree.items...)
		}, false},
		{"the holder is being deleted", func(_ *testing.T, tree *tree, holder *v1alpha1.DeployItem) {
			holder.DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time}
		}, true},
		{"the holder is not wanted any more", func(t *testing.T, tree *tree, holder *v1alpha1.DeployItem) { tree.want(t, tree.items[0]) }, true},
		{"the holder is on another cluster", func(t *testing.T, tree *tree, holder *v1alpha1.DeployItem) {
			holder.Spec.Target.Name, holder.Spec.Configuration.Raw = "elsewhere", []byte(empty)
			on(tree.items[0], "1")
			on(holder, "2")
			tree.want(t, tree.items...)
		}, false},
		{"the holder is on another cluster now, and was on this one before", func(t *testing.T, tree *tree, holder *v1alpha1.DeployItem) {
			holder.Spec.Target.Name, holder.Spec.Configuration.Raw = "elsewhere", []byte(empty)
			on(tree.items[0], "1")
			on(holder, "2", "1")
			tree.want(t, tree.items...)
		}, true},
		{"the holder is on the same cluster by another Target", func(t *testing.T, tree *tree, holder *v1alpha1.DeployItem) {
			holder.Spec.Target.Name, holder.Spec.Configuration.Raw = "elsewhere", []byte(empty)
			on(tree.items[0], "1")
			on(holder, "1")
			tree.want(t, tree.items...)
		}, true},
		{"the cluster of the holder is not known: the label of the object names it", func(t *testing.T, tree *tree, holder *v1alpha1.DeployItem) {
			holder.Spec.Target.Name, holder.Spec.Configuration.Raw = "elsewhere", []byte(empty)
			tree.want(t, tree.items...)
		}, true},
		{"there is no holder", func(t *testing.T, tree *tree, holder *v1alpha1.DeployItem) { tree.items = tree.items[:1] }, false},
		{"the Installation of the holder is deleted with its parent", func(_ *testing.T, tree *tree, holder *v1alpha1.DeployItem) {
			holder.Labels[v1alpha1.ExecutionManagedByLabel] = "sub"
			execution, sub, above := tree.execution.DeepCopy(), tree.installation.DeepCopy(), tree.installation.DeepCopy()
			execution.Name, sub.Name, above.Name = "sub", "sub", "above"
			sub.Labels = map[string]string{v1alpha1.EncompassedByLabel: "above"}
			above.Status.Conditions = held
			tree.others = append(tree.others, execution, sub, above)
		}, true},
		{"the Installation of the holder stays", func(_ *testing.T, tree *tree, holder *v1alpha1.DeployItem) {
			holder.Labels[v1alpha1.ExecutionManagedByLabel] = "sub"
			execution, sub := tree.execution.DeepCopy(), tree.installation.DeepCopy()
			execution.Name, sub.Name = "sub", "sub"
			sub.Labels = map[string]string{v1alpha1.EncompassedByLabel: "shop"}
			tree.others = append(tree.others, execution, sub)
		}, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			tree := newTree(t, "self", "holder")
			tree.items[1].Spec.Configuration.Raw = []byte(listsIt)
			tree.want(t, tree.items...)
			test.change(t, tree, tree.items[1])
			tree.look(t, func(ctx context.Context, item *Item) error {
				if yields, err := item.Yields(ctx, "holder", aConfigMap); err != nil || yields != test.want {
					t.Errorf("yields: %t, %v", yields, err)
				}
				return nil
			})
		})
	}
}

// TestStays: an item that the cache shows may be on its way out, with all that its Execution has.
func TestStays(t *testing.T) {
	goes := &metav1.Time{Time: metav1.Now().Time}
	tests := []struct {
		reason string
		change func(t *testing.T, tree *tree)
		want   bool
	}{
		{"a wanted item", func(*testing.T, *tree) {}, true},
		{"an item that is not wanted", func(t *testing.T, tree *tree) { tree.want(t, tree.items[0]) }, false},
		{"an item whose Execution is being deleted", func(_ *testing.T, tree *tree) {
			tree.execution.DeletionTimestamp, tree.execution.Finalizers = goes, []string{v1alpha1.Finalizer}
		}, false},
		{"an item whose root is being deleted", func(_ *testing.T, tree *tree) {
			tree.installation.DeletionTimestamp, tree.installation.Finalizers = goes, []string{v1alpha1.Finalizer}
		}, false},
		{"an item without an Execution", func(_ *testing.T, tree *tree) { tree.items[1].Labels = nil }, true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			tree := newTree(t, "self", "a")
			test.change(t, tree)
			tree.look(t, func(ctx context.Context, item *Item) error {
				if stays, err := item.Stays(ctx, tree.items[1]); err != nil || stays != test.want {
					t.Errorf("stays: %t, %v", stays, err)
				}
				return nil
			})
		})
	}
}

// handJob stores an item with the job that it has got.
func handJob(s *stage, item *v1alpha1.DeployItem) {
	s.Helper()
	if err := s.reconciler.client.Status().Update(s.Context(), item); err != nil {
		s.Fatal(err)
	}
}

// TestKeeps: the end of a job says what the item keeps, until one keeps nothing. Meanwhile the
// condition stays: who waits for the removal must not take its absence for an end.
func TestKeeps(t *testing.T) {
	var kept []string
	var waiting bool
	tree := newTree(t, "self")
	s := tree.stage(t, nil)
	s.script.reconcile = func(_ context.Context, item *Item) (Result, error) {
		item.Keeps(kept...)
		if waiting {
			return WaitFor("more"), nil
		}
		return Done(), nil
	}
	round := func(jobID string) {
		item := s.item()
		item.Status.JobID, item.Status.TransitionTimes = jobID, job.Triggered(metav1.Now())
		handJob(s, item)
		s.look()
	}
	expect := func(when, message string) {
		t.Helper()
		condition := job.GetCondition(s.item().Status.Conditions, v1alpha1.PendingRemovalsCondition)
		switch {
		case message == "" && condition != nil:
			t.Errorf("%s: %+v", when, condition)
		case message != "" && (condition == nil || condition.Status != v1alpha1.ConditionTrue || !strings.Contains(condition.Message, message)):
			t.Errorf("%s: %+v, want %q", when, condition, message)
		}
	}
	kept = []string{"ConfigMap n/a"}
	s.look()
	expect("kept", "ConfigMap n/a is removed at the end of the job unless another deploy item takes it over")
	kept = []string{"ConfigMap n/a", "ConfigMap n/b"}
	round("three")
	expect("another job keeps more", "ConfigMap n/a, ConfigMap n/b are removed")
	kept, waiting = nil, true
	round(job.RemovalOf("three"))
	expect("under way", "ConfigMap n/a, ConfigMap n/b are removed")
	waiting = false
	s.reconciler.requeue(key)
	s.look()
	expect("removed", "")
}

// TestKeepsEarlier: the end of a job says what is left on earlier clusters, beside what is kept for
// other items.
func TestKeepsEarlier(t *testing.T) {
	tree := newTree(t, "self")
	s := tree.stage(t, func(_ context.Context, item *Item) error {
		item.Keeps("ConfigMap n/a")
		item.KeepsEarlier(apideployer.EarlierCluster{
			ClusterIdentity:  apideployer.ClusterIdentity{Server: "https://old.example"},
			ManagedResources: apideployer.ManagedResourceStatusList{{Policy: apideployer.ManagePolicy, Resource: aConfigMap}},
		})
		return nil
	})
	s.look()
	const want = "ConfigMap n/a is removed at the end of the job unless another deploy item takes it over; ConfigMap n/a on the earlier cluster https://old.example is removed at the end of the job"
	if found := job.Pending(s.item().Status.Conditions); found == nil || found.Message != want {
		t.Errorf("the status says %+v, want %q", found, want)
	}
}

// TestKeepsUnchanged: an item that is only deployed after a change still says what it keeps, and
// gets its removal round.
func TestKeepsUnchanged(t *testing.T) {
	kept := []string{"ConfigMap n/a"}
	tree := newTree(t, "self")
	tree.items[0].Spec.UpdateOnChangeOnly = true
	s := tree.stage(t, nil)
	s.script.reconcile = func(_ context.Context, item *Item) (Result, error) {
		item.Keeps(kept...)
		return Done(), nil
	}
	s.look()
	kept = nil
	for _, round := range []struct {
		jobID string
		kept  bool
	}{{"three", true}, {job.RemovalOf("three"), false}} {
		item := s.item()
		item.Status.JobID, item.Status.TransitionTimes = round.jobID, job.Triggered(metav1.Now())
		handJob(s, item)
		s.look()
		if found := job.GetCondition(s.item().Status.Conditions, v1alpha1.PendingRemovalsCondition); (found != nil) != round.kept {
			t.Errorf("after job %s: %+v", round.jobID, found)
		}
		if s.item().Status.JobIDFinished != round.jobID {
			t.Errorf("job %s did not end", round.jobID)
		}
	}
}

// TestRecordedByOthers: what two items may have had one after the other, as their records say.
func TestRecordedByOthers(t *testing.T) {
	record := func(item *v1alpha1.DeployItem, text string) {
		item.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(text)}
	}
	const has = `{"managedResources":[{"policy":"manage","resource":{"apiVersion":"v1","kind":"ConfigMap","namespace":"n","name":"a"}}]}`
	for _, test := range []struct {
		reason string
		change func(tree *tree)
		want   bool
	}{
		{"no other item has recorded the object", func(*tree) {}, false},
		{"another item has", func(tree *tree) { record(tree.items[1], has) }, true},
		{"the item itself has", func(tree *tree) { record(tree.items[0], has) }, false},
		{"another item has one of another kind", func(tree *tree) { record(tree.items[1], strings.ReplaceAll(has, "ConfigMap", "Secret")) }, false},
		{"an item on another cluster has", func(tree *tree) {
			tree.items[1].Spec.Target.Name = "elsewhere"
			on(tree.items[0], "1")
			record(tree.items[1], `{"cluster":{"id":"2","target":"elsewhere"},`+has[1:])
		}, false},
		{"an item on the same cluster by another Target has", func(tree *tree) {
			tree.items[1].Spec.Target.Name = "elsewhere"
			on(tree.items[0], "1")
			record(tree.items[1], `{"cluster":{"id":"1","target":"elsewhere"},`+has[1:])
		}, true},
		{"a record cannot be read", func(tree *tree) { record(tree.items[1], `{"managedResources":"a"}`) }, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			tree := newTree(t, "one", "two")
			test.change(tree)
			tree.look(t, func(ctx context.Context, item *Item) error {
				found, err := item.RecordedByOthers(ctx, []corev1.ObjectReference{aConfigMap})
				if err != nil || slices.Contains(found, aConfigMap) != test.want {
					t.Errorf("found %v, %v", found, err)
				}
				return nil
			})
		})
	}
}

func namesOf(items []*v1alpha1.DeployItem) (names []string) {
	for _, item := range items {
		names = append(names, item.Name)
	}
	return names
}
