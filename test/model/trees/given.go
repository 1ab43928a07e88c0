package trees

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
)

// Given is the name of the DataObject that a user writes, and roots import.
const Given = "given"

// request is what a user who asks for a job can expect of it.
type request struct {
	// generation is the one that it is about.
	generation int64
	// value is what was given before.
	value int
}

// expect notes that a job was asked for. A request that is replaced before it was picked up is not
// expected any more.
func (u *users) expect(inst *v1alpha1.Installation, operation v1alpha1.Operation) {
	if operation == v1alpha1.InterruptOperation || operation == v1alpha1.AbortOperation {
		delete(u.asked, inst.UID)
		return
	}
	u.asked[inst.UID] = request{generation: inst.Generation, value: u.given}
}

// giveValue writes another value for the roots that import it and, as users do, asks at
// once for a job of one of them.
func (u *users) giveValue() {
	u.values++
	u.given = u.values
	for _, space := range world.Spaces {
		object := &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: Given}, Data: v1alpha1.NewAnyJSON(fmt.Append(nil, u.given))}
		err := u.trees.Store.Create(object)
		if err != nil {
			err = u.trees.Store.Update(object, false)
		}
		if err != nil {
			panic(err)
		}
	}
	u.trees.Note("user: give %d", u.given)
	for _, name := range installations {
		stored, err := u.trees.Store.Get("Installation", homeOf(name))
		if err != nil {
			continue
		}
		if inst := stored.DeepCopyObject().(*v1alpha1.Installation); importsGiven(inst) && inst.DeletionTimestamp == nil {
			u.Annotate(inst, v1alpha1.OperationAnnotation, string(v1alpha1.ReconcileOperation))
		}
	}
}

func importsGiven(inst *v1alpha1.Installation) bool {
	return len(inst.Spec.Imports.Data) > 0 && inst.Spec.Imports.Data[0].DataRef == Given
}

// checkAsked: every requested job has run, and it has used what was there at the time of the
// request.
func (t *Trees) checkAsked() {
	for _, key := range store.KeysOf(t.Store.Objects["Installation"]) {
		inst, _ := t.Store.Objects["Installation"][key].(*v1alpha1.Installation)
		request, asked := t.Users.asked[inst.UID]
		status := &inst.Status
		if !asked || inst.DeletionTimestamp != nil {
			continue
		}
		if status.JobID == "" || status.ObservedGeneration < request.generation {
			t.Violate("Installation %s was asked for a job with generation %d, and has got none", inst.Name, request.generation)
		}
		if status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded || !importsGiven(inst) || status.ObservedGeneration != inst.Generation || t.Users.leftBehind[inst.Name] {
			continue
		}
		found := t.Target.of(inst.Name)
		for _, item := range t.Users.wanted[inst.UID][inst.Generation].Items {
			if found[item.Key()] < request.value {
				t.Violate("Installation %s was asked for a job when %d was given, but has deployed %d", inst.Name, request.value, found[item.Key()])
			}
		}
	}
}
