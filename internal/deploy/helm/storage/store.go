package storage

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"helm.sh/helm/v4/pkg/release/common"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/deploy/target"
)

const (
	// FieldManager is the name under which fields of objects of releases are owned.
	FieldManager = "landscaper-helm-deployer"

	recordType = "helm.sh/release.v1"
	recordKey  = "release"
	// ownerAnnotation says which item has written a record: its UID, and its name for people.
	// digestAnnotation identifies what was deployed. They are annotations, not labels: Helm copies
	// labels to the next revision, whichever client makes it.
	ownerAnnotation  = "helm.deployer.landscaper.gardener.cloud/deployitem-uid"
	nameAnnotation   = "helm.deployer.landscaper.gardener.cloud/deployitem"
	digestAnnotation = "helm.deployer.landscaper.gardener.cloud/digest"
	// maxRecord is how long a record may be when it is unpacked. A Secret holds a megabyte of it in
	// packed form, with a ratio of 5 to 10; up to smallRecord, the ratio does not count.
	maxRecord, smallRecord, maxRatio = 16 << 20, 4 << 20, 20
	// maxRecordCost is what it may take in memory when it is decoded, as an estimate.
	maxRecordCost = 48 << 20
	// maxHistory is what all records of a release may take, as an estimate: they are kept as long as an
	// operation runs.
	maxHistory = 32 << 20
)

// unpacking lets few records be unpacked at the same time: what a cluster stores of its
// releases is for its owner to choose, and must not take the memory of all.
var unpacking = make(chan struct{}, 4)

// systemLabels are those that Helm sets itself.
var systemLabels = []string{"name", "owner", "status", "version", "createdAt", "modifiedAt"}

// Record is a stored revision of a release.
type Record struct {
	Revision int
	Status   common.Status
	// Owner is the UID of the item that has written it, and OwnerName its name; both are empty if
	// another client did.
	Owner, OwnerName string
	// Digest identifies what was deployed; empty if another client has written it.
	Digest string
	// Written is when it was written last.
	Written time.Time

	object *unstructured.Unstructured
	// omitted says that its content is not kept, because newer records are too large.
	omitted bool
}

// broken is the error about a record that cannot be read, without its content.
func (r *Record) broken(why string) error {
	return fmt.Errorf("the Secret %s/%s is no record of Helm: remove it, or restore it%s", r.object.GetNamespace(), r.object.GetName(), why)
}

// Marks are what a record says about who wrote it and what it deploys.
type Marks struct{ Owner, OwnerName, Digest string }

// Store keeps the records of the releases of a namespace in Secrets.
type Store struct {
	Cluster   target.Cluster
	Namespace string
	Now       func() time.Time
}

var secrets = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

// History returns the revisions of a release, the oldest first.
func (s *Store) History(ctx context.Context, name string) ([]*Record, error) {
	mapping, err := s.Cluster.Mapping(ctx, secrets)
	if err != nil {
		return nil, fmt.Errorf("find kind Secret: %w", err)
	}
	found, err := s.Cluster.List(ctx, mapping, s.Namespace, labels.Set{"owner": "helm", "name": name})
	if err != nil {
		return nil, fmt.Errorf("list the records of release %s/%s: %w", s.Namespace, name, err)
	}
	records := make([]*Record, 0, len(found))
	for _, object := range found {
		if kind, _, _ := unstructured.NestedString(object.Object, "type"); kind != recordType {
			continue
		}
		if record := recordOf(object); record != nil {
			records = append(records, record)
		}
	}
	slices.SortFunc(records, func(a, b *Record) int { return cmp.Compare(a.Revision, b.Revision) })
	size := int64(0)
	for _, record := range slices.Backward(records) {
		if size += answerlimit.SizeOf(record.object); size > maxHistory {
			record.object, record.omitted = target.State(record.object), true
		}
	}
	return records, nil
}

// recordOf reads what the metadata of a Secret says, or nil if it is no record.
func recordOf(object *unstructured.Unstructured) *Record {
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	revision, err := strconv.Atoi(labels["version"])
	if err != nil || revision < 1 {
		return nil
	}
	written := object.GetCreationTimestamp().Time
	for _, label := range []string{"createdAt", "modifiedAt"} {
		if seconds, err := strconv.ParseInt(labels[label], 10, 64); err == nil && time.Unix(seconds, 0).After(written) {
			written = time.Unix(seconds, 0)
		}
	}
	return &Record{
		Revision: revision, Status: common.Status(labels["status"]), Written: written, object: object,
		Owner: annotations[ownerAnnotation], OwnerName: annotations[nameAnnotation], Digest: annotations[digestAnnotation],
	}
}

// Release unpacks a record.
func (r *Record) Release() (*helmrelease.Release, error) {
	unpacking <- struct{}{}
	defer func() { <-unpacking }()
	if r.omitted {
		return nil, r.broken(fmt.Sprintf(" (it and the newer ones are larger than %d MiB together)", maxHistory>>20))
	}
	errBroken := r.broken("")
	text, _, _ := unstructured.NestedString(r.object.Object, "data", recordKey)
	// The Secret encodes what is encoded already.
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errBroken
	}
	if packed, err = base64.StdEncoding.DecodeString(string(packed)); err != nil {
		return nil, errBroken
	}
	if bytes.HasPrefix(packed, []byte{0x1f, 0x8b, 0x08}) {
		reader, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, errBroken
		}
		limit := min(maxRecord, max(smallRecord, maxRatio*len(packed)))
		if packed, err = io.ReadAll(io.LimitReader(reader, int64(limit)+1)); err != nil {
			return nil, errBroken
		}
		if len(packed) > limit {
			return nil, r.broken(fmt.Sprintf(" (it is longer than %d bytes when it is unpacked)", limit))
		}
	}
	if (&answerlimit.Scanner{}).Exceeds(packed, maxRecordCost) {
		return nil, r.broken(fmt.Sprintf(" (it takes more than %d MiB of memory when it is unpacked)", maxRecordCost>>20))
	}
	release := &helmrelease.Release{}
	if json.Unmarshal(packed, release) != nil || release.Info == nil {
		return nil, errBroken
	}
	release.Version, release.Labels = r.Revision, ownLabels(r.object.GetLabels())
	return release, nil
}

// ownLabels are the labels that users have given a release.
func ownLabels(all map[string]string) map[string]string {
	own := maps.Clone(all)
	for _, label := range systemLabels {
		delete(own, label)
	}
	return own
}

// Create stores a new revision. It fails if another client has stored one with this number.
func (s *Store) Create(ctx context.Context, release *helmrelease.Release, marks Marks) error {
	return s.write(ctx, release, marks, "createdAt", func(mapping *meta.RESTMapping, secret *unstructured.Unstructured) error {
		_, err := s.Cluster.Create(ctx, mapping, secret, FieldManager)
		return err
	})
}

// Update stores a revision again.
func (s *Store) Update(ctx context.Context, release *helmrelease.Release, marks Marks) error {
	return s.write(ctx, release, marks, "modifiedAt", func(mapping *meta.RESTMapping, secret *unstructured.Unstructured) error {
		_, err := s.Cluster.Update(ctx, mapping, secret, FieldManager)
		return err
	})
}

func (s *Store) write(ctx context.Context, release *helmrelease.Release, marks Marks, stamp string, send func(*meta.RESTMapping, *unstructured.Unstructured) error) error {
	mapping, err := s.Cluster.Mapping(ctx, secrets)
	if err != nil {
		return fmt.Errorf("find kind Secret: %w", err)
	}
	secret, err := s.secret(release, marks, stamp)
	if err == nil {
		err = send(mapping, secret)
	}
	if err != nil {
		return fmt.Errorf("store revision %d of release %s/%s: %w", release.Version, s.Namespace, release.Name, err)
	}
	return nil
}

// secret is the form in which a release is stored.
func (s *Store) secret(release *helmrelease.Release, marks Marks, stamp string) (*unstructured.Unstructured, error) {
	content, err := json.Marshal(release)
	if err != nil {
		// The reason may quote a value.
		return nil, errors.New("it cannot be written as JSON")
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(content); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	text := base64.StdEncoding.EncodeToString(packed.Bytes())
	labels := maps.Clone(release.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, map[string]string{
		"name": release.Name, "owner": "helm", "status": release.Info.Status.String(), "version": strconv.Itoa(release.Version),
		stamp: strconv.FormatInt(s.Now().Unix(), 10),
	})
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": recordType,
		"data": map[string]any{recordKey: base64.StdEncoding.EncodeToString([]byte(text))},
	}}
	secret.SetNamespace(s.Namespace)
	secret.SetName(Name(release.Name, release.Version))
	secret.SetLabels(labels)
	if marks.Owner != "" {
		secret.SetAnnotations(map[string]string{ownerAnnotation: marks.Owner, nameAnnotation: marks.OwnerName, digestAnnotation: marks.Digest})
	}
	return secret, nil
}

// Name is the name of the Secret with a revision of a release.
func Name(name string, revision int) string {
	return fmt.Sprintf("sh.helm.release.v1.%s.v%d", name, revision)
}

// Delete removes a revision.
func (s *Store) Delete(ctx context.Context, name string, revision int) error {
	mapping, err := s.Cluster.Mapping(ctx, secrets)
	if err != nil {
		return fmt.Errorf("find kind Secret: %w", err)
	}
	if _, err := s.Cluster.Delete(ctx, mapping, s.Namespace, Name(name, revision), metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("remove revision %d of release %s/%s: %w", revision, s.Namespace, name, err)
	}
	return nil
}

// Watch watches for changes of a record.
func (s *Store) Watch(ctx context.Context, record *Record, wake func()) (target.Watch, error) {
	mapping, err := s.Cluster.Mapping(ctx, secrets)
	if err != nil {
		return nil, fmt.Errorf("find kind Secret: %w", err)
	}
	return s.Cluster.Watch(mapping, s.Namespace, record.object.GetName(), true, wake), nil
}

// Deployed reports whether the revision was deployed completely once.
func (r *Record) Deployed() bool {
	return r.Status == common.StatusDeployed || r.Status == common.StatusSuperseded
}

// Marks are the marks of a record, so that it keeps them.
func (r *Record) Marks() Marks {
	return Marks{Owner: r.Owner, OwnerName: r.OwnerName, Digest: r.Digest}
}

// Forget removes all records of a release. Its objects stay. The newest record is deleted last: as
// long as it exists, an interrupted job can continue.
func (s *Store) Forget(ctx context.Context, name string, history []*Record) error {
	for _, record := range history {
		if err := s.Delete(ctx, name, record.Revision); err != nil {
			return err
		}
	}
	return nil
}
