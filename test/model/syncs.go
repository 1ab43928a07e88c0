package model

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/targetsync"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
)

const (
	// accessName is the name of the Secret with the access to the garden.
	accessName = "access"
	// gardenNamespace is the namespace of the shoots in the garden.
	gardenNamespace = "garden-blue"
	// ofUsers is a label of what a TargetSync must not touch.
	ofUsers = "of-users"
)

// syncNames are the TargetSyncs that users may have: a namespace may have only one.
var syncNames = []string{"sync", "sync", "sync", "another"}

// newTargetSyncs starts the controller of TargetSyncs with an empty memory.
func newTargetSyncs(w *world) *targetsync.Reconciler {
	cached, live := w.connect("targetsync")
	metadata := *cached
	metadata.metadata = true
	r := &targetsync.Reconciler{
		Client: cached, Reader: live, Events: &events{world: w}, Pool: w.garden.connect(), Now: time.Now, Parallelizer: w.shuffled,
		// With the longest of pauses, no retry is a part of coming to rest.
		Spread: func() float64 { return 1 },
	}
	r.RunAsync(w.process.ctx, &metadata, w.elsewhereFor(w.process, "targetsync"))
	return r
}

// actOnSyncs lets a user do something about TargetSyncs, or their source.
func (u *users) actOnSyncs() {
	w := u.world
	switch w.random.IntN(12) {
	case 0, 1, 2, 3:
		u.changeShoot(shootNames[w.random.IntN(len(shootNames))])
	case 4:
		u.changeAccess()
	case 5:
		u.changeMade()
	case 6:
		u.changeOwn()
	default:
		u.changeSync(syncNames[w.random.IntN(len(syncNames))])
	}
}

// changeShoot creates, deletes or changes a shoot: its source does that, without an event.
func (u *users) changeShoot(name string) {
	g := u.world.garden
	of := g.shoots[name]
	switch {
	case of == nil:
		g.uids++
		g.shoots[name] = &shoot{uid: "shoot-" + string(rune('a'+g.uids)), stranded: u.world.random.IntN(4) == 0}
	case u.world.random.IntN(3) == 0:
		of.deleting = true
	case of.stranded:
		of.stranded = false
	default:
		delete(g.shoots, name)
	}
	u.world.note("user: shoot %s: %+v", name, g.shoots[name])
}

// changeAccess breaks the access to the source, or repairs it.
func (u *users) changeAccess() {
	w, secret := u.world, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: spaces[0], Name: accessName}}
	stored, err := w.store.get("Secret", client.ObjectKeyFromObject(secret))
	switch {
	case err == nil && w.random.IntN(3) == 0:
		must(w.store.remove(stored, nil))
	case err == nil && w.random.IntN(2) == 0:
		changed := stored.DeepCopyObject().(*corev1.Secret)
		changed.Data = map[string][]byte{"kubeconfig": []byte(secretMark)}
		must(w.store.update(changed, false))
	case err == nil:
		changed := stored.DeepCopyObject().(*corev1.Secret)
		changed.Data = map[string][]byte{"kubeconfig": kubeconfig(w.garden.token())}
		must(w.store.update(changed, false))
	default:
		secret.Data = map[string][]byte{"kubeconfig": kubeconfig(w.garden.token())}
		must(w.store.create(secret))
	}
	u.rotations++
	w.note("user: change the access to the source")
}

// changeMade deletes what a TargetSync has made, which users should not do.
func (u *users) changeMade() {
	w := u.world
	for _, k := range []kind{"Target", "Secret"} {
		for _, key := range keysOf(w.store.objects[k]) {
			if made := w.store.objects[k][key]; syncplan.Ours(made) && key.Name != accessName && w.random.IntN(2) == 0 {
				w.note("user: delete %s %s", k, key.Name)
				u.meddling = true
				must(w.store.remove(made, nil))
				return
			}
		}
	}
}

// changeOwn creates or deletes a Target that has the name of a shoot.
func (u *users) changeOwn() {
	w, own := u.world, &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: spaces[0], Name: "us", Labels: map[string]string{ofUsers: "true"}}}
	own.Spec.Type = v1alpha1.KubernetesClusterTargetType
	stored, err := w.store.get("Target", client.ObjectKeyFromObject(own))
	switch {
	case err != nil:
		must(w.store.create(own))
	case stored.GetLabels()[ofUsers] != "":
		must(w.store.remove(stored, nil))
	}
	w.note("user: a Target us of their own")
}

// changeSync creates, changes or deletes a TargetSync, or asks it for something.
func (u *users) changeSync(name string) {
	w, key := u.world, types.NamespacedName{Namespace: spaces[0], Name: name}
	stored, err := w.store.get("TargetSync", key)
	if err != nil {
		sync := &v1alpha1.TargetSync{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name}}
		sync.Spec = v1alpha1.TargetSyncSpec{SourceNamespace: gardenNamespace, SecretRef: v1alpha1.LocalSecretReference{Name: accessName}, ShootNameExpression: "*", TokenRotation: &v1alpha1.TokenRotation{Enabled: true}}
		must(w.store.create(sync))
		u.rotations++
		w.note("user: create TargetSync %s", name)
		return
	}
	sync := stored.DeepCopyObject().(*v1alpha1.TargetSync)
	what := "delete"
	switch w.random.IntN(6) {
	case 0:
		must(w.store.remove(sync, nil))
	case 1, 2:
		sync.Spec.ShootNameExpression = []string{"*", "^e", "u|a", ""}[w.random.IntN(4)]
		what = "select " + sync.Spec.ShootNameExpression
		must(w.store.update(sync, false))
	case 3:
		what = "reconcile"
		sync.Annotations = with(sync.Annotations, v1alpha1.OperationAnnotation, string(v1alpha1.ReconcileOperation))
		must(w.store.update(sync, false))
	default:
		what = "rotate"
		u.rotations++
		sync.Annotations = with(sync.Annotations, v1alpha1.RotateTokenAnnotation, "true")
		must(w.store.update(sync, false))
	}
	w.note("user: TargetSync %s: %s", name, what)
}

// must is for what a user does by themselves.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// checkMade looks at a write to what a TargetSync makes: what belongs to others stays as it is, and
// a Target names a Secret that exists.
func (w *world) checkMade(c change) {
	if w.writer != "targetsync" || c.kind != "Target" && c.kind != "Secret" {
		return
	}
	if c.before != nil && !syncplan.Ours(c.before) && c.key.Name != accessName {
		w.violate("%s %s, which is not of a TargetSync, is changed or deleted by one", c.kind, c.key.Name)
	}
	if c.kind == "Target" && c.after != nil && w.store.objects["Secret"][c.key] == nil && !w.users.meddling {
		w.violate("Target %s names a Secret that does not exist", c.key.Name)
	}
	if target := w.store.objects["Target"][c.key]; c.kind == "Secret" && c.after == nil && target != nil && syncplan.Ours(target) && w.garden.shoots[c.key.Name] == nil {
		w.violate("Secret %s is deleted before its Target", c.key.Name)
	}
}

// syncAgain lets the time pass until each TargetSync has run once more: the source sends no events.
func (w *world) syncAgain() {
	l := w.lanes["targetsync"]
	for range 2 {
		for _, key := range keysOf(l.timers) {
			w.ring(l, key, l.timers[key])
		}
		w.settle()
	}
}

// checkSyncs: what was selected is there, with the credentials of the shoot that there is now, and
// nothing else; a deletion ends, and so does each request.
func (w *world) checkSyncs() {
	syncs, made := w.store.objects["TargetSync"], w.made()
	for _, key := range keysOf(syncs) {
		if syncs[key].GetDeletionTimestamp() != nil {
			w.violate("TargetSync %s is still being deleted, and nothing will wake it", key.Name)
		}
	}
	if len(syncs) == 0 && len(made) > 0 {
		w.violate("there is no TargetSync any more, but %v", made)
	}
	access, _ := w.store.objects["Secret"][types.NamespacedName{Namespace: spaces[0], Name: accessName}].(*corev1.Secret)
	if len(syncs) != 1 || access == nil || string(access.Data["kubeconfig"]) == secretMark {
		return // it says what is wrong, and changes nothing
	}
	sync := syncs[keysOf(syncs)[0]].(*v1alpha1.TargetSync)
	if _, asked := sync.Annotations[v1alpha1.RotateTokenAnnotation]; asked || sync.Annotations[v1alpha1.OperationAnnotation] != "" {
		w.violate("TargetSync %s still has a request: %v", sync.Name, sync.Annotations)
	}
	if sync.Status.ObservedGeneration != sync.Generation {
		w.violate("TargetSync %s has generation %d, and has observed %d", sync.Name, sync.Generation, sync.Status.ObservedGeneration)
	}
	selects, err := syncplan.Names(sync.Spec.ShootNameExpression)
	if err != nil {
		panic(err)
	}
	for _, name := range shootNames {
		of := w.garden.shoots[name]
		selected := of != nil && sync.Spec.ShootNameExpression != "" && selects(name)
		w.checkSynced(name, of, selected, slices.Contains(made, "Target "+name), slices.Contains(made, "Secret "+name))
	}
}

// checkSynced looks at one shoot.
func (w *world) checkSynced(name string, of *shoot, selected, target, secret bool) {
	if selected && w.taken(name) {
		return // a Secret that was made just before the name was taken waits for the Target
	}
	if !selected && (target || secret) {
		w.violate("shoot %s is not selected, but there is a Target: %t, a Secret: %t", name, target, secret)
	}
	if !selected || of.deleting || of.stranded {
		return
	}
	if !target || !secret {
		w.violate("shoot %s is selected, but there is a Target: %t, a Secret: %t", name, target, secret)
		return
	}
	stored := w.store.objects["Secret"][types.NamespacedName{Namespace: spaces[0], Name: name}].(*corev1.Secret)
	if token, err := tokenIn(stored.Data["kubeconfig"]); err != nil || !strings.HasSuffix(token, of.uid) {
		w.violate("Secret %s has the credentials %q, not those of %s (%v)", name, token, of.uid, err)
	}
}

// taken reports whether an object that is not of a TargetSync has the name of a shoot.
func (w *world) taken(name string) bool {
	for _, k := range []kind{"Target", "Secret"} {
		if object := w.store.objects[k][types.NamespacedName{Namespace: spaces[0], Name: name}]; object != nil && !syncplan.Ours(object) {
			return true
		}
	}
	return name == accessName
}

// made are the Targets and Secrets of TargetSyncs.
func (w *world) made() (names []string) {
	for _, k := range []kind{"Target", "Secret"} {
		for _, key := range keysOf(w.store.objects[k]) {
			if syncplan.Ours(w.store.objects[k][key]) && key.Name != accessName {
				names = append(names, string(k)+" "+key.Name)
			}
		}
	}
	return names
}

// checkRotations: a request leads to one rotation, and so does an access whose age is unknown, unless
// something has gone wrong with the rotation itself.
func (w *world) checkRotations() {
	if w.garden.tokens > w.users.rotations {
		w.violate("%d tokens were granted, but there were %d reasons", w.garden.tokens, w.users.rotations)
	}
}

// excuseRotation notes that a renewed token may be lost, or that it is forgotten why it was renewed:
// then it is renewed once more.
func (w *world) excuseRotation() { w.users.rotations++ }

// excuseRotations does so for a process that begins without a memory.
func (w *world) excuseRotations() {
	for _, object := range w.store.objects["TargetSync"] {
		if metav1.HasAnnotation(metav1.ObjectMeta{Annotations: object.GetAnnotations()}, v1alpha1.RotateTokenAnnotation) {
			w.excuseRotation()
		}
	}
}
