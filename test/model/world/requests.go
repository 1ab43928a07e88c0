package world

import (
	"context"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/model/store"
)

// answers is what a controller has been answered since its process began: what it knows for certain
// about the objects that it has written and read.
type answers struct {
	// written are the versions of its last writes.
	written map[types.UID]int
	// ended are the jobs of items that it has ended.
	ended map[types.UID]string
	// asked is how often it has asked for an object that has not changed.
	asked map[question]*asked
	// deleted is when it has deleted an object.
	deleted map[question]time.Time
}

// question is an object that a controller asks the API server for when it reconciles an object.
type question struct {
	of   types.NamespacedName
	kind store.Kind
	key  types.NamespacedName
}

// driven are the kinds that the controllers drive.
var driven = map[string]store.Kind{"installation": "Installation", "execution": "Execution", "deployer": "DeployItem", "targetsync": "TargetSync"}

// reconciled is where a context has the object that is reconciled.
type reconciled struct{}

// begun is the key of the number of a reconcile in its context.
type begun struct{}

// asked is since when, and how often, an object was asked for in one version.
type asked struct {
	version string
	since   time.Time
	count   int
}

func newAnswers() *answers {
	return &answers{written: map[types.UID]int{}, ended: map[types.UID]string{}, asked: map[question]*asked{}, deleted: map[question]time.Time{}}
}

// questionsInSecond is how often a controller may ask for an object within a second that has not
// changed: each attempt may, and events of other objects lead to attempts.
const questionsInSecond = 10

// checkQuestion: what waits makes no requests. A controller does not ask again and again for an
// object of the protocol that stays as it is.
func (c *connection) checkQuestion(ctx context.Context, k store.Kind, key types.NamespacedName) {
	if k != "Installation" && k != "Execution" && k != "DeployItem" {
		return
	}
	at, _ := ctx.Value(reconciled{}).(types.NamespacedName)
	of, version := question{at, k, key}, ""
	if stored := c.world.Store.Objects[of.kind][of.key]; stored != nil {
		version = stored.GetResourceVersion()
	}
	shown := c.world.Caches[k][key]
	// A reconcile may have listed the objects before the cache showed this one.
	since, _ := ctx.Value(begun{}).(int)
	listed := shown != nil && c.world.shown[shown.GetUID()] < since
	if at, known := c.answers.deleted[of]; known && time.Since(at) < time.Second && listed && shown.GetDeletionTimestamp() == nil {
		c.world.Violate("%s asks the API server for %s %s, which it has just deleted, because a cache does not show that yet", c.lane, k, key.Name)
	}
	before := c.answers.asked[of]
	if before == nil || before.version != version || time.Since(before.since) >= time.Second {
		c.answers.asked[of] = &asked{version: version, since: time.Now(), count: 1}
		return
	}
	before.count++
	c.world.Counts.questions = max(c.world.Counts.questions, before.count)
	if before.count > questionsInSecond {
		c.world.Violate("%s asks the API server %d times within a second for %s %s, which has not changed", c.lane, before.count, of.kind, of.key.Name)
	}
}

// checkAnswer looks at the answer to a write. A controller that knows the version of its last write
// to the object that it reconciles does not write that in an older one: it has looked at a cache that
// is behind. Of objects below, a conflict is enough.
func (c *connection) checkAnswer(ctx context.Context, object client.Object, sent string, err error) {
	own, known := c.answers.written[object.GetUID()]
	at, _ := ctx.Value(reconciled{}).(types.NamespacedName)
	// One that it has released is forgotten, and another one may have its name.
	stored := c.world.Store.Objects[store.KindOf(object)][client.ObjectKeyFromObject(object)]
	known = known && store.KindOf(object) == driven[c.lane] && at == client.ObjectKeyFromObject(object) && stored != nil && stored.GetUID() == object.GetUID()
	if before, _ := strconv.Atoi(sent); apierrors.IsConflict(err) && known && before > 0 && before < own {
		c.world.Violate("%s writes %s %s in version %d after it has written version %d", c.lane, store.KindOf(object), object.GetName(), before, own)
	}
	if err != nil {
		return
	}
	if version, _ := strconv.Atoi(object.GetResourceVersion()); version > 0 && at == client.ObjectKeyFromObject(object) {
		c.answers.written[object.GetUID()] = version
	}
	if item, ok := object.(*v1alpha1.DeployItem); ok && item.Status.JobID == item.Status.JobIDFinished {
		c.answers.ended[item.UID] = item.Status.JobID
	}
}

// noteDeleted notes that the API server has accepted a deletion.
func (c *connection) noteDeleted(ctx context.Context, object client.Object) {
	at, _ := ctx.Value(reconciled{}).(types.NamespacedName)
	c.answers.deleted[question{at, store.KindOf(object), client.ObjectKeyFromObject(object)}] = time.Now()
}

// Ended returns the last job of an item that a controller has ended, as far as it knows.
func (w *World) Ended(lane string, item types.UID) string { return w.answers[lane].ended[item] }
