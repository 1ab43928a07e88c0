package installation

import (
	"errors"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/crashnote"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/reporter"
)

// TestNoted: a plan is noted before it is made. One that has ended the server waits, and ends the job
// when that has happened too often.
func TestNoted(t *testing.T) {
	inst := testbuilders.InstallationOf(t, "{}")
	inst.Spec.Blueprint = v1alpha1.BlueprintDefinition{Inline: &v1alpha1.InlineBlueprint{Filesystem: v1alpha1.NewAnyJSON(inline(t, "deployItems: []"))}}
	directory, now := t.TempDir(), time.Now()
	key := crashnote.Key{Kind: "Installation", Namespace: inst.Namespace, Name: inst.Name, UID: inst.UID}
	open := func() *crashnote.Notes {
		notes, err := crashnote.Open(directory, crashnote.Options{Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		return notes
	}
	attempt := func(notes *crashnote.Notes) error {
		r := &Reconciler{
			Client: fakeapi.New(t), Now: time.Now, Planner: Planner{
				Sources: &repocontext.Reader{}, Blueprints: blueprint.NewCache(blueprint.CacheBytes(0)),
				Functions: func(string, []*v1alpha1.Target) map[string]template.Function { return nil }, Attempts: notes,
			},
		}
		r.Reader = r.Client
		planElsewhere(t, r)
		seen := &snapshot{Situation: decide.Situation{Family: siblings.Family{Inst: inst}, Inputs: &decide.Inputs{Context: &v1alpha1.Context{}}}, subject: reporter.Installation(inst)}
		_, err := r.planned(t.Context(), seen)
		return err
	}
	if err := attempt(open()); err != nil {
		t.Errorf("nothing has happened: %v", err)
	}
	for ends := 1; ends <= crashnote.MaxEnds; ends++ {
		notes := open()
		now = now.Add(time.Minute)
		if _, err := notes.Begin(key); err != nil {
			t.Fatal(err)
		}
		err := attempt(open())
		var postponed *crashnote.Postponed
		if last := ends == crashnote.MaxEnds; errors.As(err, &postponed) == last || crashnote.IsGivenUp(err) != last || (job.OutcomeOf(err) == job.Terminal) != last {
			t.Errorf("after %d ends of the server: outcome %d: %v", ends, job.OutcomeOf(err), err)
		}
	}
}
