package history

import (
	"slices"

	"go.landscaper.dev/api/v1alpha1"
)

// Elsewhere is an import whose value a specification does not have: it does not go back with it.
type Elsewhere struct {
	// Name is the logical name of the import, From says where its value comes from.
	Name string `json:"name"`
	From string `json:"from"`
	// Then and Now are the fingerprints that the earlier job and the last one have recorded; empty where
	// none is.
	Then string `json:"then,omitempty"`
	Now  string `json:"now,omitempty"`
}

// Changed reports whether the value is another one now, as far as that is known.
func (e Elsewhere) Changed() bool { return e.Then != "" && e.Now != "" && e.Then != e.Now }

// ElsewhereOf returns the imports of a specification whose values come from objects, with the fingerprints
// that a job had and those of the last job that has recorded any.
func ElsewhereOf(spec *v1alpha1.InstallationSpec, records []v1alpha1.JobRecord, job v1alpha1.JobRecord) []Elsewhere {
	var last v1alpha1.JobRecord
	for _, record := range records {
		if record.ImportsHash != "" {
			last = record
			break
		}
	}
	then, now := ImportsOf(records, job), ImportsOf(records, last)
	var found []Elsewhere
	add := func(name, from string) {
		found = append(found, Elsewhere{Name: name, From: from, Then: fingerprint(then, name), Now: fingerprint(now, name)})
	}
	for _, imported := range spec.Imports.Data {
		switch {
		case imported.SecretRef != nil:
			add(imported.Name, "Secret "+imported.SecretRef.Name)
		case imported.ConfigMapRef != nil:
			add(imported.Name, "ConfigMap "+imported.ConfigMapRef.Name)
		default:
			add(imported.Name, "data "+imported.DataRef)
		}
	}
	for _, imported := range spec.Imports.Targets {
		from := "several Targets"
		if imported.Target != "" {
			from = "Target " + imported.Target
		}
		add(imported.Name, from)
	}
	return found
}

func fingerprint(of []v1alpha1.ImportFingerprint, name string) string {
	at := slices.IndexFunc(of, func(imported v1alpha1.ImportFingerprint) bool { return imported.Name == name })
	if at < 0 {
		return ""
	}
	return of[at].Fingerprint
}

// LastOf returns the newest job with a generation that has succeeded, or else the newest one; nil without
// any.
func LastOf(records []v1alpha1.JobRecord, generation int64) *v1alpha1.JobRecord {
	var last *v1alpha1.JobRecord
	for i := range records {
		record := &records[i]
		switch {
		case record.Generation != generation || record.Phase == "":
		case record.Phase == v1alpha1.InstallationPhases.Succeeded:
			return record
		case last == nil:
			last = record
		}
	}
	return last
}
