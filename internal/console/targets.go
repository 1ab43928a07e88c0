package console

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
)

// targetSyncs is the resource of TargetSyncs.
const targetSyncs = "targetsyncs"

// Targets is the page of all Targets and TargetSyncs.
type Targets struct {
	Frame
	Syncs []Sync `json:"syncs,omitempty"`
	// Targets are those of users, exports and TargetSyncs, without copies; More is how many others
	// there are.
	Targets []TargetLine `json:"targets"`
	More    int          `json:"more,omitempty"`
}

// TargetLine is a Target. The console does not read what it holds.
type TargetLine struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Missing says that items name a Target that cannot be seen.
	Missing bool `json:"missing,omitempty"`
	// State is Ready if the cluster was reached last, Failed if it was not, and empty if no item shows it;
	// ReachedAt is when, By the item, and Why what it says.
	State     inspect.State `json:"state,omitempty"`
	ReachedAt *metav1.Time  `json:"reachedAt,omitempty"`
	By        *Object       `json:"by,omitempty"`
	Why       string        `json:"why,omitempty"`
	// Sync is the TargetSync that keeps the Target up to date, Shoot the shoot behind it, Exporter the
	// Installation that exports it.
	Sync     string  `json:"sync,omitempty"`
	Shoot    string  `json:"shoot,omitempty"`
	Exporter *Object `json:"exporter,omitempty"`
	// Issued is when the credentials were issued, as the TargetSync notes it. Written is when the spec
	// was written last, which of inline credentials is the least age; InSecret says that
	// they are in a Secret, whose age is not known here.
	Issued   *metav1.Time `json:"issued,omitempty"`
	Written  *metav1.Time `json:"written,omitempty"`
	InSecret bool         `json:"inSecret,omitempty"`
	// Fingerprint tells contents apart, where a controller has published a digest.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Items says how many items deploy there, by their states.
	Items map[inspect.State]int `json:"items,omitempty"`
}

// Target is the page of a Target.
type Target struct {
	Frame
	TargetLine
	Used []Item `json:"used,omitempty"`
}

// Sync is a TargetSync.
type Sync struct {
	Namespace string        `json:"namespace"`
	Name      string        `json:"name"`
	State     inspect.State `json:"state"`
	Why       string        `json:"why,omitempty"`
	Source    string        `json:"source"`
	// Reachable is what the last synchronisation has found; nil before the first one.
	Reachable      *bool        `json:"reachable,omitempty"`
	ReachableSince *metav1.Time `json:"reachableSince,omitempty"`
	// Rotated is when the token of the source was renewed; Rotates says that it is.
	Rotates bool         `json:"rotates,omitempty"`
	Rotated *metav1.Time `json:"rotated,omitempty"`
	Success *metav1.Time `json:"success,omitempty"`
	Synced  int32        `json:"synced"`
	Skipped int32        `json:"skipped"`
	Failed  int32        `json:"failed"`
	// Items are the shoots and Secrets that have failed or have to wait.
	Items []v1alpha1.TargetSyncItem `json:"items,omitempty"`
}

// targets returns the page of the Targets that have a text in their name, namespace, shoot or TargetSync.
func (s *state) targets(text string) Targets {
	view := Targets{Frame: s.frame(), Targets: []TargetLine{}}
	for _, unreadable := range s.snapshot.Unreadable {
		if unreadable.Resource.Resource == targetSyncs {
			view.Notes = append(slices.Clip(view.Notes), "TargetSyncs are missing here: "+unreadable.Error())
		}
	}
	text = strings.ToLower(strings.TrimSpace(text))
	has := func(words ...string) bool { return strings.Contains(strings.ToLower(strings.Join(words, "\n")), text) }
	for _, sync := range s.snapshot.TargetSyncs {
		if has(sync.Namespace, sync.Name, sync.Spec.SourceNamespace) {
			view.Syncs = append(view.Syncs, syncOf(sync))
		}
	}
	for key := range s.targeting().originals {
		line := s.targetLine(key.namespace, key.name)
		if has(line.Namespace, line.Name, line.Sync, line.Shoot) {
			view.Targets = append(view.Targets, line)
		}
	}
	slices.SortFunc(view.Syncs, func(a, b Sync) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	slices.SortFunc(view.Targets, func(a, b TargetLine) int {
		if failed, other := a.State == inspect.Failed, b.State == inspect.Failed; failed != other {
			if failed {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	view.More = max(0, len(view.Targets)-shown)
	view.Targets = view.Targets[:len(view.Targets)-view.More]
	return view
}

// target returns the page of a Target.
func (s *state) target(namespace, name string) Target {
	view := Target{Frame: s.frame(), TargetLine: s.targetLine(namespace, name)}
	for _, item := range s.targeting().users[valueKey{"Target", namespace, name}] {
		view.Used = append(view.Used, s.item(item))
	}
	return view
}

func (s *state) targetLine(namespace, name string) TargetLine {
	key := valueKey{"Target", namespace, name}
	return s.line(key, s.targeting().originals[key], s.targeting().users[key])
}

// targeting are Targets under the names that users know, and the items that deploy to each.
type targeting struct {
	originals map[valueKey]*metav1.PartialObjectMetadata
	users     map[valueKey][]*inspect.Node
}

func (s *state) newTargeting() targeting { return targeting{s.originals(), s.users()} }

// originals are the Targets that are no copies, under the names that users know. Two Installations may
// export the same name in different scopes: one of them stands for both.
func (s *state) originals() map[valueKey]*metav1.PartialObjectMetadata {
	found := map[valueKey]*metav1.PartialObjectMetadata{}
	for _, value := range s.snapshot.Values {
		if value.Kind != "Target" {
			continue
		}
		name := value.Name
		if _, scoped := value.Labels[v1alpha1.DataObjectContextLabel]; scoped {
			if value.Labels[v1alpha1.DataObjectSourceTypeLabel] != string(v1alpha1.ExportDataObjectSourceType) {
				continue
			}
			name = value.Labels[v1alpha1.DataObjectKeyLabel]
		}
		key := valueKey{"Target", value.Namespace, name}
		if other := found[key]; other == nil || value.Name < other.Name {
			found[key] = value
		}
	}
	return found
}

// users are the items that deploy to each Target.
func (s *state) users() map[valueKey][]*inspect.Node {
	users := map[valueKey][]*inspect.Node{}
	for _, root := range s.forest {
		root.Walk(func(node *inspect.Node) {
			if node.Target != "" {
				key := valueKey{"Target", node.Namespace, node.Target}
				users[key] = append(users[key], node)
			}
		})
	}
	return users
}

func (s *state) line(key valueKey, value *metav1.PartialObjectMetadata, users []*inspect.Node) TargetLine {
	line := TargetLine{Namespace: key.namespace, Name: key.name, Missing: value == nil}
	if reach := inspect.ReachOf(users); reach.State != "" {
		by := s.object(reach.Item)
		line.State, line.ReachedAt, line.By, line.Why = reach.State, reach.At, &by, reach.Message
	}
	for _, user := range users {
		if line.Items == nil {
			line.Items = map[inspect.State]int{}
		}
		line.Items[user.State]++
	}
	if value == nil {
		return line
	}
	notes := value.Annotations
	line.Sync = notes[v1alpha1.TargetSyncNameAnnotation]
	if shoot := notes[v1alpha1.ShootNameAnnotation]; shoot != "" {
		line.Shoot = strings.TrimPrefix(notes[v1alpha1.ShootNamespaceAnnotation]+"/"+shoot, "/")
	}
	line.Fingerprint = s.fingerprint("Target", value.Namespace, value.Name)
	if at, err := time.Parse(time.RFC3339, notes[v1alpha1.LastTargetSyncAnnotation]); err == nil {
		line.Issued = &metav1.Time{Time: at}
	}
	line.Written, line.InSecret = specOf(value)
	if source, ok := strings.CutPrefix(value.Labels[v1alpha1.DataObjectSourceLabel], v1alpha1.InstallationPrefix); ok {
		if node := s.nodes[valueKey{string(inspect.KindInstallation), value.Namespace, source}]; node != nil {
			exporter := s.object(node)
			line.Exporter = &exporter
		}
	}
	return line
}

// specOf says when the spec of a Target was written last, and whether it refers to a Secret, from
// what the API server records about its fields: the spec itself is not read.
func specOf(value *metav1.PartialObjectMetadata) (written *metav1.Time, inSecret bool) {
	for _, entry := range value.ManagedFields {
		var owned map[string]map[string]json.RawMessage
		if entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned) != nil || len(owned["f:spec"]) == 0 {
			continue
		}
		if _, refers := owned["f:spec"]["f:secretRef"]; refers {
			inSecret = true
		}
		if written == nil || written.Before(entry.Time) {
			written = entry.Time
		}
	}
	return written, inSecret
}

func syncOf(sync *v1alpha1.TargetSync) Sync {
	view := Sync{
		Namespace: sync.Namespace, Name: sync.Name, Source: sync.Spec.SourceNamespace,
		Rotates: sync.Spec.TokenRotation != nil && sync.Spec.TokenRotation.Enabled, Rotated: sync.Status.LastTokenRotationTime, Success: sync.Status.LastSuccessTime,
		Synced: sync.Status.SyncedTargets, Skipped: sync.Status.SkippedTargets, Failed: sync.Status.FailedTargets, Items: sync.Status.Items,
	}
	view.State, view.Why = inspect.TargetSyncState(sync)
	for _, condition := range sync.Status.Conditions {
		if condition.Type == v1alpha1.TargetSyncSourceReachable {
			reachable, since := condition.Status == v1alpha1.ConditionTrue, condition.LastTransitionTime
			view.Reachable, view.ReachableSince = &reachable, &since
		}
	}
	return view
}
