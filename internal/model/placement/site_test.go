package placement

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
)

// saying is the specification of a Target.
func saying(kubeconfig string) *v1alpha1.TargetSpec {
	return &v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: v1alpha1.NewAnyJSONPointer([]byte(`{"kubeconfig":"` + kubeconfig + `"}`))}
}

// recordedAt is the record of a cluster to which a Target led, with an object.
func recordedAt(target, address, id, object, uid string) Record {
	record := Record{ClusterRecord: deployer.ClusterRecord{Cluster: &deployer.ClusterIdentity{Target: target, Address: address, ID: id}}}
	if object != "" {
		record.Resources = deployer.ManagedResourceStatusList{entry(object, uid)}
	}
	return record
}

// TestCompare: whether two items deploy to the same cluster, whichever of both is asked.
func TestCompare(t *testing.T) {
	one := Site{Target: "one", Spec: saying("x"), Address: "a", Record: recordedAt("one", "a", "1", "", "")}
	for _, test := range []struct {
		reason string
		other  Site
		want   Relation
	}{
		{"the same Target, whatever was recorded", Site{Target: "one", Record: recordedAt("one", "b", "2", "", "")}, SameCluster},
		{"another Target with the same specification", Site{Target: "two", Spec: saying("x")}, SameCluster},
		{"other credentials for the same address: nothing has to be recorded", Site{Target: "two", Spec: saying("y"), Address: "a"}, SameCluster},
		{"another address with the same recorded ID", Site{Target: "two", Spec: saying("y"), Address: "b", Record: recordedAt("two", "b", "1", "", "")}, SameCluster},
		{"another recorded ID", Site{Target: "two", Spec: saying("y"), Address: "b", Record: recordedAt("two", "b", "2", "", "")}, OtherCluster},
		{"another address, and no ID was recorded", Site{Target: "two", Spec: saying("y"), Address: "b"}, UnknownCluster},
		{"the Target has led to another address since the record", Site{Target: "two", Spec: saying("y"), Address: "c", Record: recordedAt("two", "b", "2", "", "")}, UnknownCluster},
		{"the Target has led to this address since the record of another one", Site{Target: "two", Spec: saying("y"), Address: "a", Record: recordedAt("two", "b", "2", "", "")}, SameCluster},
		{"the Target is missing, and led to the same cluster", Site{Target: "two", Record: recordedAt("two", "a", "", "", "")}, SameCluster},
		{"the Target is missing, and led to another cluster", Site{Target: "two", Record: recordedAt("two", "b", "2", "", "")}, OtherCluster},
		{"the missing Target is another one than that of the record", Site{Target: "two", Record: recordedAt("former", "b", "2", "", "")}, UnknownCluster},
		{"nothing is known of the other item", Site{Target: "two"}, UnknownCluster},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got, back := one.Compare(test.other), test.other.Compare(one); got != test.want || back != test.want {
				t.Errorf("%s, from the other side %s, want %s", got, back, test.want)
			}
		})
	}
	t.Run("IDs are not readable, and both have recorded one object", func(t *testing.T) {
		a, b := Site{Target: "one", Address: "a", Record: recordedAt("one", "a", "", "o", "u")}, Site{Target: "two", Address: "b", Record: recordedAt("two", "b", "", "o", "u")}
		if got := a.Compare(b); got != SameCluster {
			t.Errorf("one object: %s", got)
		}
		b.Record.Resources[0].Resource.UID = "another"
		if got := a.Compare(b); got != UnknownCluster {
			t.Errorf("two objects of one name: %s", got)
		}
		a.Record.Resources[0].Resource.UID, b.Record.Resources[0].Resource.UID = "", ""
		if got := a.Compare(b); got != UnknownCluster {
			t.Errorf("objects that were never created: %s", got)
		}
	})
}

// TestRecordedAnywhere: what an item has on its cluster and on earlier ones.
func TestRecordedAnywhere(t *testing.T) {
	record := recordedAt("one", "a", "1", "here", "u1")
	record.EarlierClusters = []deployer.EarlierCluster{{ClusterIdentity: *identity("b", "2"), ManagedResources: deployer.ManagedResourceStatusList{entry("there", "u2")}}}
	if got := RecordedAnywhere(statusOf(t, record)); len(got) != 2 || got[0].Resource.Name != "here" || got[1].Resource.Name != "there" {
		t.Errorf("recorded is %+v", got)
	}
	if got := RecordedAnywhere(nil); got != nil {
		t.Errorf("without a status: %+v", got)
	}
	if !record.HadCluster(*identity("b", "2")) || record.HadCluster(*identity("c", "3")) {
		t.Error("an earlier cluster is one on which something is left")
	}
}

func statusOf(t *testing.T, record Record) *runtime.RawExtension {
	t.Helper()
	written, err := WriteResources([]byte(`{}`), record)
	if err != nil {
		t.Fatal(err)
	}
	return &runtime.RawExtension{Raw: written}
}
