package plan

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/number"
	"go.landscaper.dev/internal/landscape/plan/parcel"
)

// storedVersion is that of the document. A reader knows the versions up to its own.
const storedVersion = 1

// maxDocument bounds a document before it is compressed: a controller that reopens it has to hold
// it in memory. The bound for what is in the Secrets does not help here: a few hundred bytes can be
// unpacked to a gigabyte.
const maxDocument = 64 << 20

// Further errors about stored plans, besides those of parcel.
var (
	// ErrNewer: a newer release has stored the plan.
	ErrNewer = errors.New("the stored plan of the job was written by a newer release: update Landscaper, or start another job with the annotation " + v1alpha1.OperationAnnotation + ": reconcile")
	// ErrTooLarge: there is more to store than fits.
	ErrTooLarge = errors.New("what the exports need of the imports and of the blueprint is too large to be stored: import less, or move files that the export executions do not read to another blueprint")
)

// document is what exports need from the moment in which the job was admitted. It holds imported
// values, so that it is stored in Secrets only.
type document struct {
	Version int `json:"version"`
	// Installation has what exports need of the object that the job was admitted
	// with.
	Installation *v1alpha1.Installation `json:"installation"`
	// Info has what exports need of the description of the blueprint; Files what
	// they may read of its files, Links the links among them.
	Info  *v1alpha1.Blueprint `json:"info"`
	Files map[string][]byte   `json:"files,omitempty"`
	Links map[string]string   `json:"links,omitempty"`
	// Mentioned are words that occur in the blueprint.
	Mentioned map[string]bool `json:"mentioned,omitempty"`
	// Bindings are what templates see, with the results of import executions.
	Bindings json.RawMessage `json:"bindings"`
	// Component means that exports may read the component version.
	Component bool `json:"component,omitempty"`
	// Secrets are those that the Installation gives to the blueprint.
	Secrets []v1alpha1.LocalSecretReference `json:"secrets,omitempty"`
}

// Stored returns what the exports of this job need when it ends, which may be after
// a restart and after changes of everything that the plan was made from. It holds
// imported values. Most Installations have no exports, and need nothing.
//
// It is stored before the children get the job, because it cannot be computed again afterwards:
// imports may have changed, and import executions may have used the time or random values.
func (p *Plan) Stored() (content []byte, needed bool, err error) {
	info, spec := p.in.Blueprint.Info, &p.in.Installation.Spec
	if len(info.ExportExecutions)+len(spec.Exports.Data)+len(spec.Exports.Targets)+len(spec.ExportDataMappings) == 0 {
		return nil, false, nil
	}
	content, err = p.store()
	return content, true, err
}

func (p *Plan) store() ([]byte, error) {
	info := p.in.Blueprint.Info
	bindings, err := encodeBindings(p.bindings)
	if err != nil {
		return nil, err
	}
	readable, err := p.readableByExports()
	if err != nil {
		return nil, err
	}
	return encodeDocument(&document{
		Version: storedVersion, Installation: admitted(p.in.Installation), Mentioned: p.mentioned, Bindings: bindings,
		Files: readable.Files, Links: readable.Links, Component: p.in.Component != nil && readable.component,
		Secrets: p.secrets,
		Info: &v1alpha1.Blueprint{
			Annotations: info.Annotations, LocalTypes: info.LocalTypes, JSONSchemaVersion: info.JSONSchemaVersion,
			Exports: info.Exports, ExportExecutions: info.ExportExecutions,
		},
	})
}

// admitted returns what exports need of an Installation.
//
// The rest of the specification is left out, since it has worked already: the stored plan can be
// read by every user who may read Secrets.
func admitted(inst *v1alpha1.Installation) *v1alpha1.Installation {
	kept := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{
		Name: inst.Name, Namespace: inst.Namespace, UID: inst.UID, Generation: inst.Generation, OwnerReferences: inst.OwnerReferences,
	}}
	kept.Spec.ComponentDescriptor = inst.Spec.ComponentDescriptor
	kept.Spec.Context = inst.Spec.Context
	kept.Spec.Exports, kept.Spec.ExportDataMappings = inst.Spec.Exports, inst.Spec.ExportDataMappings
	kept.Status.JobID = inst.Status.JobID
	return kept
}

// encodeBindings keeps floats apart from integers, which JSON does not.
func encodeBindings(bindings map[string]any) (json.RawMessage, error) {
	raw, err := json.Marshal(distinct(bindings))
	if err != nil {
		// The cause may quote a value.
		return nil, errors.New("a value of the imports cannot be stored: it is not made of what JSON can say")
	}
	return raw, nil
}

func distinct(value any) any {
	switch value := value.(type) {
	case map[string]any:
		fields := make(map[string]any, len(value))
		for key, field := range value {
			fields[key] = distinct(field)
		}
		return fields
	case []any:
		elements := make([]any, len(value))
		for i, element := range value {
			elements[i] = distinct(element)
		}
		return elements
	case float64:
		if literal, needed := number.Distinct(value); needed {
			return literal
		}
	}
	return value
}

// writers are used again: one has almost a megabyte of tables, and a plan a few kilobytes.
var writers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func encodeDocument(doc *document) ([]byte, error) {
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, errors.New("the plan cannot be stored: it is not made of what JSON can say")
	}
	if len(raw) > maxDocument {
		return nil, fmt.Errorf("%w (%d bytes, at most %d)", ErrTooLarge, len(raw), maxDocument)
	}
	var compressed bytes.Buffer
	writer := writers.Get().(*gzip.Writer)
	defer writers.Put(writer)
	writer.Reset(&compressed)
	if _, err := writer.Write(raw); err != nil {
		return nil, fmt.Errorf("compress the plan: %w", err)
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("compress the plan: %w", err)
	}
	if compressed.Len() > parcel.MaxSize {
		return nil, fmt.Errorf("%w (%d bytes compressed, at most %d)", ErrTooLarge, compressed.Len(), parcel.MaxSize)
	}
	return slices.Clip(compressed.Bytes()), nil
}

// decodeDocument reads a document. Errors do not quote it.
func decodeDocument(content []byte) (*document, map[string]any, error) {
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, nil, fmt.Errorf("%w (it is not compressed)", parcel.ErrDamaged)
	}
	raw, err := io.ReadAll(io.LimitReader(reader, maxDocument+1))
	if err != nil || len(raw) > maxDocument {
		return nil, nil, fmt.Errorf("%w (it is cut off, or longer than %d bytes)", parcel.ErrDamaged, maxDocument)
	}
	doc := &document{}
	var version struct{ Version int }
	if json.Unmarshal(raw, &version) == nil && version.Version > storedVersion {
		return nil, nil, ErrNewer
	}
	if json.Unmarshal(raw, doc) != nil || doc.Version != storedVersion || doc.Installation == nil || doc.Info == nil {
		return nil, nil, fmt.Errorf("%w (it is not a plan)", parcel.ErrDamaged)
	}
	value, err := jsonvalue.FromJSON(doc.Bindings)
	bindings, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil, nil, fmt.Errorf("%w (it has no bindings)", parcel.ErrDamaged)
	}
	return doc, bindings, nil
}
