package rollout

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/deployer"
	manifestapi "go.landscaper.dev/api/manifest/v1alpha2"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/model/ownership"
)

// member is an item of a tree.
type member struct {
	name string
	// chart says that its desired state is not known before its job.
	chart bool
	// wants are the ConfigMaps that it wants, with their policies.
	wants    map[string]deployer.ManifestPolicy
	strategy deployer.UpdateStrategy
	// stored is its record.
	stored apply.Inventory
	// leaving says that its Execution does not want it any more.
	leaving bool
	pending bool
	work    work
	job     *testJob
}

func (m *member) GoString() string { return m.name }

func (m *member) owner() Owner {
	label := ownership.ManifestLabel
	if m.chart {
		label = ownership.KustomizeLabel
	}
	return Owner{Label: label, Item: m.name, FieldManager: "test"}
}

func (m *member) desiredState() DesiredState {
	desiredState := DesiredState{Name: "test deployer", Owner: m.owner(), Strategy: m.strategy, SkipReadiness: true}
	for _, name := range slices.Sorted(maps.Keys(m.wants)) {
		desiredState.Objects = append(desiredState.Objects, apply.Entry{Policy: m.wants[name], Object: configMapNamed(name)})
	}
	return desiredState
}

func configMapNamed(name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	object.SetNamespace("ns")
	object.SetName(name)
	return object
}

// item is the member as its DeployItem says it.
func (m *member) item() *v1alpha1.DeployItem {
	item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: m.name}}
	item.Spec.Type = v1alpha1.ManifestDeployItemType
	var config struct {
		Manifests []manifestapi.Manifest `json:"manifests"`
	}
	for name, policy := range m.wants {
		raw, _ := configMapNamed(name).MarshalJSON()
		config.Manifests = append(config.Manifests, manifestapi.Manifest{Policy: policy, Manifest: &runtime.RawExtension{Raw: raw}})
	}
	if m.chart {
		item.Spec.Type, config.Manifests = "kustomize", nil
	}
	encoded, _ := json.Marshal(config)
	item.Spec.Configuration = &runtime.RawExtension{Raw: encoded}
	encoded, _ = json.Marshal(map[string]any{"managedResources": m.stored})
	item.Status.ProviderStatus = &runtime.RawExtension{Raw: encoded}
	return item
}

// tree is a set of items on one cluster.
type tree struct {
	cluster *fakecluster.Cluster
	members []*member
	// nested says that the tree has other parts.
	nested bool
	// removal says that the removal round is under way.
	removal bool
	// left is how many requests are made before the process dies; lost says that the last one
	// takes effect, and dead that the process has died.
	left       int
	lost, dead bool
}

// dieAfter kills the process with a request.
func (t *tree) dieAfter(requests int, lost bool) {
	t.left, t.lost = requests, lost
	t.cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
		switch {
		case request.Verb == "watch":
			return fakecluster.Fault{}
		case t.dead:
			return fakecluster.Fault{Before: errCrash}
		}
		if t.left--; t.left != 0 {
			return fakecluster.Fault{}
		}
		if t.dead = true; t.lost {
			return fakecluster.Fault{After: errCrash}
		}
		return fakecluster.Fault{Before: errCrash}
	}
}

// neighbors are the members of a tree, as one of them sees the others.
type neighbors struct {
	*tree
	self             *member
	mayKeep, mayMove bool
}

func (t *tree) seenBy(self *member) *neighbors {
	n := &neighbors{tree: t, self: self}
	n.mayKeep = !t.removal && !self.leaving
	n.mayMove = n.mayKeep && (t.nested || slices.ContainsFunc(t.members, func(m *member) bool { return m != self && m.chart && !m.leaving }))
	return n
}

func (t *tree) member(name string) *member {
	for _, m := range t.members {
		if m.name == name {
			return m
		}
	}
	return nil
}

func (n *neighbors) Others(context.Context) ([]*v1alpha1.DeployItem, error) {
	var others []*v1alpha1.DeployItem
	for _, m := range n.members {
		if m != n.self && !m.leaving {
			others = append(others, m.item())
		}
	}
	return others, nil
}

func (n *neighbors) Stays(_ context.Context, other *v1alpha1.DeployItem) (bool, error) {
	m := n.member(other.Name)
	return m != nil && !m.leaving, nil
}

func (n *neighbors) yields(holder string, object corev1.ObjectReference) bool {
	m := n.member(holder)
	return m != nil && m != n.self && (m.leaving || !m.chart && !ownership.Lists(m.item(), object))
}

// begin begins the part of a member, or begins it again after a crash.
func (t *tree) begin(ctx context.Context, m *member) (err error) {
	m.job = &testJob{neighbors: t.seenBy(m)}
	if m.leaving {
		m.work, err = BeginRemoval(ctx, m.job, t.cluster, Teardown{Name: "test", Owner: m.owner()}, m.stored)
		return err
	}
	begun, err := Begin(ctx, m.job, t.cluster, m.desiredState(), m.stored)
	if err != nil {
		return err
	}
	m.work, m.stored = begun, begun.Inventory()
	return nil
}

// attempt reconciles a member once. It reports whether its part is over.
func (t *tree) attempt(ctx context.Context, m *member) (over bool, err error) {
	if m.work == nil {
		if err := t.begin(ctx, m); err != nil {
			return false, err
		}
	}
	recorded := m.stored
	waiting, err := m.work.Continue(ctx)
	m.stored = m.work.Inventory()
	if t.dead {
		// Only what was recorded before is still known.
		m.end()
		m.stored, t.dead = recorded, false
		return false, err
	}
	if err != nil || len(waiting) > 0 {
		return false, err
	}
	m.end()
	m.pending = len(m.job.kept) > 0
	return true, nil
}

// end forgets what is in memory only.
func (m *member) end() {
	if m.work != nil {
		_ = m.work.Close()
	}
	m.work = nil
}

// round reconciles members in an order until all are done.
func (t *tree) round(ctx context.Context, order ...*member) error {
	for _, m := range order {
		for tries := 0; ; tries++ {
			over, err := t.attempt(ctx, m)
			if over {
				break
			}
			if tries > 20 {
				return fmt.Errorf("%s does not end: %w", m.name, err)
			}
		}
	}
	return nil
}

// removalRound ends a job whose wanted members are all done: members that are not wanted any
// more go, and those that keep something are asked again.
func (t *tree) removalRound(ctx context.Context, shuffle func([]*member) []*member) error {
	t.removal = true
	defer func() { t.removal = false }()
	var order []*member
	for _, m := range t.members {
		if m.leaving || m.pending {
			order = append(order, m)
		}
	}
	if err := t.round(ctx, shuffle(order)...); err != nil {
		return err
	}
	t.members = slices.DeleteFunc(t.members, func(m *member) bool { return m.leaving })
	return nil
}

// ownerOf is the member to which a ConfigMap belongs.
func (t *tree) ownerOf(name string) string {
	object := t.cluster.Find("ConfigMap", "ns", name)
	if object == nil {
		return "deleted"
	}
	owners := ownership.Others(object, "")
	if ownership.IsReleased(object) {
		owners = append(owners, "released")
	}
	return fmt.Sprint(owners)
}

func (j *testJob) Others(ctx context.Context) ([]*v1alpha1.DeployItem, error) {
	if j.neighbors == nil {
		return nil, nil
	}
	return j.neighbors.Others(ctx)
}

func (j *testJob) Stays(ctx context.Context, other *v1alpha1.DeployItem) (bool, error) {
	return j.neighbors.Stays(ctx, other)
}
func (j *testJob) MayKeep(context.Context) (bool, error) {
	return j.neighbors != nil && j.neighbors.mayKeep, nil
}
func (j *testJob) MayMove(context.Context) (bool, error) {
	return j.neighbors != nil && j.neighbors.mayMove, nil
}
func (j *testJob) Moved(context.Context, string, *v1alpha1.DeployItem) {}
func (j *testJob) Yields(_ context.Context, holder string, object corev1.ObjectReference) (bool, error) {
	return j.neighbors != nil && j.neighbors.yields(holder, object), nil
}
func (j *testJob) IsNeighbor(_ context.Context, name string) (bool, error) {
	return j.neighbors != nil && j.neighbors.member(name) != nil, nil
}
func (j *testJob) Bequeath(context.Context, *v1alpha1.DeployItem, deployer.ManagedResourceStatus) error {
	return nil
}
func (j *testJob) Keeps(objects ...string)      { j.kept = objects }
func (j *testJob) KeepsInUse(reasons ...string) { j.inUse = reasons }
