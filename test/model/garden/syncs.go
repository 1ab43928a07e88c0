package garden

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/targetsync"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
)

const (
	// AccessName is the name of the Secret with the access to the garden.
	AccessName = "access"
	// gardenNamespace is the namespace of the shoots in the garden.
	gardenNamespace = "garden-blue"
)

// syncNames are the TargetSyncs that users may have: a namespace may have only one.
var syncNames = []string{"sync", "sync", "sync", "another"}

// Start starts the controller of TargetSyncs with an empty memory.
func (g *Garden) Start() reconcile.Reconciler {
	g.excuseRotations()
	w := g.world
	cached, live := w.Connect("targetsync")
	metadata := *cached
	metadata.Metadata = true
	r := &targetsync.Reconciler{
		Client: cached, Reader: live, Events: &world.Events{World: w}, Pool: g.connect(), Now: time.Now, Parallelizer: w.Shuffled,
		// With the longest of pauses, no retry is a part of coming to rest.
		Spread: func() float64 { return 1 },
	}
	r.RunAsync(w.Process.Ctx, &metadata, w.ElsewhereFor(w.Process, "targetsync"))
	g.syncs = r
	return r
}

// Act lets a user do something about TargetSyncs, or their source.
func (g *Garden) Act() {
	w := g.world
	switch w.Random.IntN(12) {
	case 0, 1, 2, 3:
		g.changeShoot(shootNames[w.Random.IntN(len(shootNames))])
	case 4:
		g.changeAccess()
	case 5:
		g.changeMade()
	case 6:
		g.changeOwn()
	default:
		g.changeSync(syncNames[w.Random.IntN(len(syncNames))])
	}
}

// changeShoot creates, deletes or changes a shoot: its source does that, without an event.
func (g *Garden) changeShoot(name string) {
	of := g.shoots[name]
	switch {
	case of == nil:
		g.uids++
		g.shoots[name] = &shoot{uid: "shoot-" + string(rune('a'+g.uids)), stranded: g.world.Random.IntN(4) == 0}
	case g.world.Random.IntN(3) == 0:
		of.deleting = true
	case of.stranded:
		of.stranded = false
	default:
		delete(g.shoots, name)
	}
	g.world.Note("user: shoot %s: %+v", name, g.shoots[name])
}

// changeAccess breaks the access to the source, or repairs it.
func (g *Garden) changeAccess() {
	w, secret := g.world, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: world.Spaces[0], Name: AccessName}}
	stored, err := w.Store.Get("Secret", client.ObjectKeyFromObject(secret))
	switch {
	case err == nil && w.Random.IntN(3) == 0:
		world.Must(w.Store.Remove(stored, nil))
	case err == nil && w.Random.IntN(2) == 0:
		changed := stored.DeepCopyObject().(*corev1.Secret)
		changed.Data = map[string][]byte{"kubeconfig": []byte(world.SecretMark)}
		world.Must(w.Store.Update(changed, false))
	case err == nil:
		changed := stored.DeepCopyObject().(*corev1.Secret)
		changed.Data = map[string][]byte{"kubeconfig": kubeconfig(g.token())}
		world.Must(w.Store.Update(changed, false))
	default:
		secret.Data = map[string][]byte{"kubeconfig": kubeconfig(g.token())}
		world.Must(w.Store.Create(secret))
	}
	g.rotations++
	w.Note("user: change the access to the source")
}

// changeMade deletes what a TargetSync has made, which users should not do.
func (g *Garden) changeMade() {
	w := g.world
	for _, k := range []store.Kind{"Target", "Secret"} {
		for _, key := range store.KeysOf(w.Store.Objects[k]) {
			if made := w.Store.Objects[k][key]; syncplan.Ours(made) && key.Name != AccessName && w.Random.IntN(2) == 0 {
				w.Note("user: delete %s %s", k, key.Name)
				g.meddling = true
				world.Must(w.Store.Remove(made, nil))
				return
			}
		}
	}
}

// changeOwn creates or deletes a Target that has the name of a shoot.
func (g *Garden) changeOwn() {
	w, own := g.world, &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: world.Spaces[0], Name: "us", Labels: map[string]string{world.OfUsers: "true"}}}
	own.Spec.Type = v1alpha1.KubernetesClusterTargetType
	stored, err := w.Store.Get("Target", client.ObjectKeyFromObject(own))
	switch {
	case err != nil:
		world.Must(w.Store.Create(own))
	case stored.GetLabels()[world.OfUsers] != "":
		world.Must(w.Store.Remove(stored, nil))
	}
	w.Note("user: a Target us of their own")
}

// changeSync creates, changes or deletes a TargetSync, or asks it for something.
func (g *Garden) changeSync(name string) {
	w, key := g.world, types.NamespacedName{Namespace: world.Spaces[0], Name: name}
	stored, err := w.Store.Get("TargetSync", key)
	if err != nil {
		sync := &v1alpha1.TargetSync{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name}}
		sync.Spec = v1alpha1.TargetSyncSpec{SourceNamespace: gardenNamespace, SecretRef: v1alpha1.LocalSecretReference{Name: AccessName}, ShootNameExpression: "*", TokenRotation: &v1alpha1.TokenRotation{Enabled: true}}
		world.Must(w.Store.Create(sync))
		g.rotations++
		w.Note("user: create TargetSync %s", name)
		return
	}
	sync := stored.DeepCopyObject().(*v1alpha1.TargetSync)
	what := "delete"
	switch w.Random.IntN(6) {
	case 0:
		world.Must(w.Store.Remove(sync, nil))
	case 1, 2:
		sync.Spec.ShootNameExpression = []string{"*", "^e", "u|a", ""}[w.Random.IntN(4)]
		what = "select " + sync.Spec.ShootNameExpression
		world.Must(w.Store.Update(sync, false))
	case 3:
		what = "reconcile"
		sync.Annotations = world.With(sync.Annotations, v1alpha1.OperationAnnotation, string(v1alpha1.ReconcileOperation))
		world.Must(w.Store.Update(sync, false))
	default:
		what = "rotate"
		g.rotations++
		sync.Annotations = world.With(sync.Annotations, v1alpha1.RotateTokenAnnotation, "true")
		world.Must(w.Store.Update(sync, false))
	}
	w.Note("user: TargetSync %s: %s", name, what)
}

// CheckMade looks at a write to what a TargetSync makes: what belongs to others stays as it is, and
// a Target names a Secret that exists.
func (g *Garden) CheckMade(c store.Change) {
	if g.world.Writer != "targetsync" || c.Kind != "Target" && c.Kind != "Secret" {
		return
	}
	if c.Before != nil && !syncplan.Ours(c.Before) && c.Key.Name != AccessName {
		g.world.Violate("%s %s, which is not of a TargetSync, is changed or deleted by one", c.Kind, c.Key.Name)
	}
	if c.Kind == "Target" && c.After != nil && g.world.Store.Objects["Secret"][c.Key] == nil && !g.meddling {
		g.world.Violate("Target %s names a Secret that does not exist", c.Key.Name)
	}
	if target := g.world.Store.Objects["Target"][c.Key]; c.Kind == "Secret" && c.After == nil && target != nil && syncplan.Ours(target) && g.shoots[c.Key.Name] == nil {
		g.world.Violate("Secret %s is deleted before its Target", c.Key.Name)
	}
}

// SyncAgain lets the time pass until each TargetSync has run once more: the source sends no events.
func (g *Garden) SyncAgain() {
	l := g.world.Lanes["targetsync"]
	for range 2 {
		for _, key := range store.KeysOf(l.Timers) {
			g.world.Ring(l, key, l.Timers[key])
		}
		g.world.Settle()
	}
}

// CheckSyncs looks whether what was selected is there, with the credentials of the shoot that there is now, and
// nothing else; a deletion ends, and so does each request.
func (g *Garden) CheckSyncs() {
	syncs, made := g.world.Store.Objects["TargetSync"], g.made()
	for _, key := range store.KeysOf(syncs) {
		if syncs[key].GetDeletionTimestamp() != nil {
			g.world.Violate("TargetSync %s is still being deleted, and nothing will wake it", key.Name)
		}
	}
	if len(syncs) == 0 && len(made) > 0 {
		g.world.Violate("there is no TargetSync any more, but %v", made)
	}
	access, _ := g.world.Store.Objects["Secret"][types.NamespacedName{Namespace: world.Spaces[0], Name: AccessName}].(*corev1.Secret)
	if len(syncs) != 1 || access == nil || string(access.Data["kubeconfig"]) == world.SecretMark {
		return // it says what is wrong, and changes nothing
	}
	sync := syncs[store.KeysOf(syncs)[0]].(*v1alpha1.TargetSync)
	if _, asked := sync.Annotations[v1alpha1.RotateTokenAnnotation]; asked || sync.Annotations[v1alpha1.OperationAnnotation] != "" {
		g.world.Violate("TargetSync %s still has a request: %v", sync.Name, sync.Annotations)
	}
	if sync.Status.ObservedGeneration != sync.Generation {
		g.world.Violate("TargetSync %s has generation %d, and has observed %d", sync.Name, sync.Generation, sync.Status.ObservedGeneration)
	}
	selects, err := syncplan.Names(sync.Spec.ShootNameExpression)
	if err != nil {
		panic(err)
	}
	for _, name := range shootNames {
		of := g.shoots[name]
		selected := of != nil && sync.Spec.ShootNameExpression != "" && selects(name)
		g.checkSynced(name, of, selected, slices.Contains(made, "Target "+name), slices.Contains(made, "Secret "+name))
	}
}

// checkSynced looks at one shoot.
func (g *Garden) checkSynced(name string, of *shoot, selected, target, secret bool) {
	if selected && g.taken(name) {
		return // a Secret that was made just before the name was taken waits for the Target
	}
	if !selected && (target || secret) {
		g.world.Violate("shoot %s is not selected, but there is a Target: %t, a Secret: %t", name, target, secret)
	}
	if !selected || of.deleting || of.stranded {
		return
	}
	if !target || !secret {
		g.world.Violate("shoot %s is selected, but there is a Target: %t, a Secret: %t", name, target, secret)
		return
	}
	stored := g.world.Store.Objects["Secret"][types.NamespacedName{Namespace: world.Spaces[0], Name: name}].(*corev1.Secret)
	if token, err := tokenIn(stored.Data["kubeconfig"]); err != nil || !strings.HasSuffix(token, of.uid) {
		g.world.Violate("Secret %s has the credentials %q, not those of %s (%v)", name, token, of.uid, err)
	}
}

// taken reports whether an object that is not of a TargetSync has the name of a shoot.
func (g *Garden) taken(name string) bool {
	for _, k := range []store.Kind{"Target", "Secret"} {
		if object := g.world.Store.Objects[k][types.NamespacedName{Namespace: world.Spaces[0], Name: name}]; object != nil && !syncplan.Ours(object) {
			return true
		}
	}
	return name == AccessName
}

// made are the Targets and Secrets of TargetSyncs.
func (g *Garden) made() (names []string) {
	for _, k := range []store.Kind{"Target", "Secret"} {
		for _, key := range store.KeysOf(g.world.Store.Objects[k]) {
			if syncplan.Ours(g.world.Store.Objects[k][key]) && key.Name != AccessName {
				names = append(names, string(k)+" "+key.Name)
			}
		}
	}
	return names
}

// Fill writes what users have from the beginning.
func (g *Garden) Fill() {
	g.changeAccess()
	g.changeSync(syncNames[0])
}

// Refused learns that a write has failed: the renewed token may be lost.
func (g *Garden) Refused(object client.Object) {
	if object.GetName() == AccessName {
		g.excuseRotation()
	}
}

// CheckRotations looks at renewed tokens: a request leads to one rotation, and so does an access whose age is unknown, unless
// something has gone wrong with the rotation itself.
func (g *Garden) CheckRotations() {
	if g.tokens > g.rotations {
		g.world.Violate("%d tokens were granted, but there were %d reasons", g.tokens, g.rotations)
	}
}

// excuseRotation notes that a renewed token may be lost, or that it is forgotten why it was renewed:
// then it is renewed once more.
func (g *Garden) excuseRotation() { g.rotations++ }

// excuseRotations does so for a process that begins without a memory.
func (g *Garden) excuseRotations() {
	for _, object := range g.world.Store.Objects["TargetSync"] {
		if metav1.HasAnnotation(metav1.ObjectMeta{Annotations: object.GetAnnotations()}, v1alpha1.RotateTokenAnnotation) {
			g.excuseRotation()
		}
	}
}
