// Package placement decides on which clusters the recorded objects of an item are: a Target may
// come to lead to another cluster, and objects that were deployed before stay on the former one
// until they are removed there.
//
// The name of a Target says nothing: two Targets may lead to the same cluster, one Target may come
// to lead to another. Neither does a kubeconfig, whose credentials are rotated and whose address
// may change. So a cluster is known by the UID of its Namespace kube-system, which is asked for
// only if the address has changed.
package placement

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/deployer"
)

// Record is the part of a provider status that says which objects are on which clusters.
type Record struct {
	deployer.ClusterRecord
	// Resources are the objects on the cluster.
	Resources deployer.ManagedResourceStatusList
	// Release is a release of Helm on the cluster. It is part of the record of an earlier
	// cluster only.
	Release *deployer.ReleaseReference
}

// The fields of a provider status.
const (
	clusterField   = "cluster"
	earlierField   = "earlierClusters"
	resourcesField = "managedResources"
)

// Recorded returns what an item has recorded on the cluster of its Target, whatever its deployer
// is. A record that cannot be read is empty: the deployer of the item reports that.
func Recorded(status *runtime.RawExtension) deployer.ManagedResourceStatusList {
	var listed struct {
		ManagedResources deployer.ManagedResourceStatusList `json:"managedResources"`
	}
	if status == nil || json.Unmarshal(status.Raw, &listed) != nil {
		return nil
	}
	return listed.ManagedResources
}

// RecordedAnywhere returns what an item has recorded, on the cluster of its Target and on earlier
// ones.
func RecordedAnywhere(status *runtime.RawExtension) deployer.ManagedResourceStatusList {
	all := Recorded(status)
	record, err := Read(status)
	if err != nil {
		return all
	}
	for _, earlier := range record.EarlierClusters {
		all = append(all, earlier.ManagedResources...)
	}
	return all
}

// Read reads the record in a provider status; an absent one is empty.
func Read(status *runtime.RawExtension) (Record, error) {
	var record Record
	if status == nil || len(status.Raw) == 0 {
		return record, nil
	}
	if err := json.Unmarshal(status.Raw, &record.ClusterRecord); err != nil {
		return record, errors.New("status.providerStatus: its cluster and earlierClusters cannot be read")
	}
	if record.Cluster == nil && len(record.EarlierClusters) == 0 {
		// The record is older than records of clusters, maybe in an older form: its objects are on
		// the cluster of the Target.
		return record, nil
	}
	var listed struct {
		ManagedResources deployer.ManagedResourceStatusList `json:"managedResources"`
	}
	if err := json.Unmarshal(status.Raw, &listed); err != nil {
		return record, errors.New("status.providerStatus: its managedResources cannot be read")
	}
	record.Resources = listed.ManagedResources
	return record, nil
}

// Write puts the clusters of a record into a provider status and leaves all else as it is.
func Write(status []byte, clusters deployer.ClusterRecord) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(status, &fields); err != nil || fields == nil {
		return nil, errors.New("the provider status is not an object")
	}
	if err := set(fields, clusterField, clusters.Cluster, clusters.Cluster == nil); err != nil {
		return nil, err
	}
	if err := set(fields, earlierField, clusters.EarlierClusters, len(clusters.EarlierClusters) == 0); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

// WriteResources puts a record with its objects into a provider status.
func WriteResources(status []byte, record Record) ([]byte, error) {
	written, err := Write(status, record.ClusterRecord)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(written, &fields); err != nil {
		return nil, errors.New("the provider status is not an object")
	}
	if err := set(fields, resourcesField, record.Resources, len(record.Resources) == 0); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

func set(fields map[string]json.RawMessage, name string, value any, absent bool) error {
	if absent {
		delete(fields, name)
		return nil
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s of the provider status: %w", name, err)
	}
	fields[name] = encoded
	return nil
}

// Verdict says whether the Target of an item leads to the cluster of the record.
type Verdict string

const (
	// First means that no cluster is recorded: the recorded objects are on the cluster of the
	// Target.
	First Verdict = "first"
	// Same means that it is the cluster of the record.
	Same Verdict = "same"
	// AskID means that the ID of the Target's cluster has to be read.
	AskID Verdict = "ask for the ID"
	// AskObjects means that the recorded objects have to be read: the ID of one of both clusters is
	// not readable.
	AskObjects Verdict = "ask for the objects"
	// Other means that it is another cluster.
	Other Verdict = "other"
)

// Judge says whether a Target leads to the recorded cluster. The ID of the Target's cluster counts
// if it was requested; it is empty if it could not be read.
func Judge(recorded *deployer.ClusterIdentity, here deployer.ClusterIdentity, asked bool) Verdict {
	switch {
	case recorded == nil:
		return First
	case recorded.Address == here.Address:
		return Same
	case !asked:
		return AskID
	case recorded.ID == "" || here.ID == "":
		return AskObjects
	case recorded.ID == here.ID:
		return Same
	}
	return Other
}

// Stay returns the record for a Target that leads to the recorded cluster, or is the
// first to be recorded. The address and the name of the Target are those of the last one.
func (r Record) Stay(here deployer.ClusterIdentity) Record {
	if r.Cluster != nil && here.ID == "" {
		here.ID = r.Cluster.ID
	}
	r.Cluster = &here
	return r
}

// Move returns the record for a Target that leads to another cluster: what is recorded
// becomes that of an earlier cluster. A cluster to which the Target has led before gets
// back what is left there.
func (r Record) Move(here deployer.ClusterIdentity) Record {
	moved := Record{ClusterRecord: deployer.ClusterRecord{Cluster: &here}}
	for _, earlier := range r.EarlierClusters {
		if sameCluster(earlier.ClusterIdentity, here) {
			moved.Resources = append(moved.Resources, earlier.ManagedResources...)
			continue
		}
		moved.EarlierClusters = append(moved.EarlierClusters, earlier)
	}
	if len(r.Resources) > 0 || r.Release != nil {
		left := deployer.EarlierCluster{Release: r.Release, ManagedResources: r.Resources}
		if r.Cluster != nil {
			left.ClusterIdentity = *r.Cluster
		}
		moved.EarlierClusters = append(moved.EarlierClusters, left)
	}
	return moved
}

// sameCluster reports whether two identities are known to be those of one cluster.
func sameCluster(a, b deployer.ClusterIdentity) bool {
	return a.ID != "" && a.ID == b.ID || a.Address != "" && a.Address == b.Address
}

// Update returns the earlier clusters with what is left on one of them; one on which nothing
// is left is forgotten.
func Update(clusters []deployer.EarlierCluster, left deployer.EarlierCluster) []deployer.EarlierCluster {
	clusters = slices.Clone(clusters)
	at := slices.IndexFunc(clusters, func(earlier deployer.EarlierCluster) bool { return earlier.Key() == left.Key() })
	switch {
	case at < 0:
		return clusters
	case left.Release == nil && len(left.ManagedResources) == 0:
		return slices.Delete(clusters, at, at+1)
	}
	clusters[at] = left
	return clusters
}

// Describe names a cluster for users. The Target that led there is not named: Installations work
// with copies, whose names mean nothing and which lead elsewhere by now.
func Describe(cluster deployer.ClusterIdentity) string { return cluster.Server }

// Objects names the objects that are left on an earlier cluster, the first ones by name.
func Objects(earlier deployer.EarlierCluster) string {
	const most = 3
	var names []string
	if earlier.Release != nil {
		names = append(names, "release "+earlier.Release.Namespace+"/"+earlier.Release.Name)
	}
	for _, entry := range earlier.ManagedResources {
		if !Removed(entry) {
			continue
		}
		name := entry.Resource.Kind + " " + entry.Resource.Name
		if entry.Resource.Namespace != "" {
			name = entry.Resource.Kind + " " + entry.Resource.Namespace + "/" + entry.Resource.Name
		}
		names = append(names, name)
	}
	switch {
	case len(names) == 0:
		return "nothing"
	case len(names) > most:
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// Leaves reports whether an annotation names an earlier cluster: it is the key of one, or
// several with commas between them.
func Leaves(annotation string, earlier deployer.ClusterIdentity) bool {
	for key := range strings.SplitSeq(annotation, ",") {
		if key = strings.TrimSpace(key); key != "" && key == earlier.Key() {
			return true
		}
	}
	return false
}

// Removed reports whether the policy of an object lets it be removed.
func Removed(entry deployer.ManagedResourceStatus) bool {
	return entry.Policy != deployer.KeepPolicy && entry.Policy != deployer.IgnorePolicy
}
