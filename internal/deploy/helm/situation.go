package helm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/helm/release"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// marks are those of a release that an item deploys.
func (s released) marks(item *deployer.Item) storage.Marks {
	return storage.Marks{Owner: string(item.UID), OwnerName: item.Namespace + "/" + item.Name, Digest: s.digest(s.work.chart.Digest)}
}

// decide chooses what is to be done with the release.
func (s released) decide(ctx context.Context, item *deployer.Item, history []*storage.Record, marks storage.Marks) (release.Action, error) {
	situation := situationOf(history, marks, s.Now())
	known, err := releasesOf(item)
	if err != nil {
		return "", err
	}
	// What a release has whose name the item had before may belong to the present one by now.
	renamed := known.current != nil && *known.current != s.config.reference()
	situation.Known, situation.Asked = hasDeployed(item), s.work.forced || s.config.upgrade.Always || renamed
	if situation.Others && situation.Known {
		leaves, err := ownerTerminating(ctx, history[len(history)-1], item, s.work.owners(item))
		if err != nil {
			return "", fmt.Errorf("find out whether release %s/%s can be taken over: %w", s.config.Namespace, s.config.Name, err)
		}
		situation.OwnerTerminating = leaves
	}
	return release.Decide(situation), nil
}

// refusal says who has the release now.
func (s released) refusal(last *storage.Record) error {
	return job.NewError(published.GetHelmRelease, reasons.GetRelease, fmt.Sprintf("release %s/%s belongs to DeployItem %s now: give one of the two another name",
		s.config.Namespace, s.config.Name, last.OwnerName), v1alpha1.ErrorConfigurationProblem)
}

// situationOf is what a decision depends on.
func situationOf(history []*storage.Record, marks storage.Marks, now time.Time) (situation release.Situation) {
	for _, record := range history {
		situation.Deployed = situation.Deployed || record.Deployed()
	}
	if len(history) == 0 {
		return situation
	}
	last := history[len(history)-1]
	situation.Last, situation.Age = last.Status, now.Sub(last.Written)
	// An item that is still to come has no UID.
	situation.Ours, situation.Others = last.Owner != "" && last.Owner == marks.Owner, last.Owner != "" && last.Owner != marks.Owner
	situation.Same = situation.Ours && last.Digest == marks.Digest
	return situation
}

// digest identifies what an item deploys: the chart, the values and what has an
// influence on the objects.
func (s released) digest(chart string) string {
	// Only plain values come here, which can be encoded.
	content, _ := json.Marshal([]any{chart, s.config.values, s.config.Name, s.config.Namespace})
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
