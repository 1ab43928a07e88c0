// Package trees has Installations with what is below them: the users who ask for them, their controllers
// and a deployer, the cluster that items are deployed to, and the rules of the job protocol.
package trees

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation"
	"go.landscaper.dev/internal/runtime/dispatch"
	"go.landscaper.dev/test/model/desired"
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
)

// Trees are Installations with all that is below them: who asks for them, the controllers that carry
// them out, and the cluster that they are deployed to.
type Trees struct {
	*world.World
	// elsewhere says that the deployer works in another process than the other
	// controllers: its jobs are written.
	elsewhere bool
	Users     *users
	Target    *target
	// installations is the controller of Installations: it knows which ones a change triggers.
	installations *installation.Reconciler
	// dispatcher dispatches jobs of items, or is nil; items are what it sees of them.
	dispatcher *dispatch.Dispatcher
	items      handler.EventHandler
	jobs       int
	// doubtful is the last job that may have got further than a restored store shows.
	doubtful int
	// given are the jobs of items that were passed to the dispatcher.
	given map[types.NamespacedName]dispatchedJob
	// succeeded are the jobs in which each Installation has succeeded.
	succeeded map[types.UID]map[string]bool
	// reports are the status writes of each object in each job that were no transition.
	reports map[work]int
	// leaving are the removal rounds in which the deletion of objects has begun.
	leaving map[types.UID]string
}

// New returns what there is before users ask for anything.
func New(w *world.World, elsewhere bool) *Trees {
	t := &Trees{World: w, elsewhere: elsewhere, succeeded: map[types.UID]map[string]bool{}, reports: map[work]int{}, leaving: map[types.UID]string{}}
	t.Target = newTarget(t)
	t.Users = &users{trees: t, wanted: map[types.UID]map[int64]desired.State{}, leftBehind: map[string]bool{}, asked: map[types.UID]request{}, removed: map[types.UID]bool{}, removedNames: map[string]bool{}}
	return t
}

// Fill writes what a namespace has before there are Installations.
func (t *Trees) Fill() {
	for _, space := range world.Spaces {
		cluster := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "host"}}
		cluster.Spec = v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: v1alpha1.NewAnyJSONPointer(store.Encoded(map[string]string{"kubeconfig": world.SecretMark}))}
		world.Must(t.Store.Create(&v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: v1alpha1.DefaultContextName}}))
		world.Must(t.Store.Create(cluster))
	}
}

// Restored learns that the store has gone back. Objects of the other history stay on the target, and its
// job IDs come again.
func (t *Trees) Restored() {
	t.doubtful = t.jobs
	t.given = map[types.NamespacedName]dispatchedJob{}
	if t.dispatcher != nil {
		t.dispatcher.Rewound()
	}
	t.Target.last = map[types.UID]string{}
	for _, name := range installations {
		t.Users.leftBehind[name] = true
	}
	t.Users.asked = map[types.UID]request{}
}
