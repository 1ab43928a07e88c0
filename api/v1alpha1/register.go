package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of all kinds in this package.
const GroupName = "landscaper.gardener.cloud"

var (
	// GroupVersion is the group and version of all kinds in this package.
	GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

	// SchemeBuilder collects the functions that register the kinds.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme registers the kinds of this package with a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

// Resource returns the group resource for a plural resource name.
func Resource(name string) schema.GroupResource {
	return GroupVersion.WithResource(name).GroupResource()
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&Installation{}, &InstallationList{},
		&Execution{}, &ExecutionList{},
		&DeployItem{}, &DeployItemList{},
		&DataObject{}, &DataObjectList{},
		&Target{}, &TargetList{},
		&Context{}, &ContextList{},
		&ComponentVersionOverwrites{}, &ComponentVersionOverwritesList{},
		&TargetSync{}, &TargetSyncList{},
		&LsHealthCheck{}, &LsHealthCheckList{},
		&CriticalProblems{}, &CriticalProblemsList{},
		&SyncObject{}, &SyncObjectList{},
		&Blueprint{}, &InstallationTemplate{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
