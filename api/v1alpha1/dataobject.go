package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DataObjectSourceType tells whether a value was imported or exported.
type DataObjectSourceType string

const (
	// ExportDataObjectSourceType marks values that an Installation exported.
	ExportDataObjectSourceType DataObjectSourceType = "export"
	// ImportDataObjectSourceType marks values that an Installation imported.
	ImportDataObjectSourceType DataObjectSourceType = "import"
)

// DataObject carries one value from one Installation to another.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=dataobjects,singular=dataobject,shortName=dobj;do
// +kubebuilder:printcolumn:name=Context,type=string,JSONPath=`.metadata.labels['data\.landscaper\.gardener\.cloud\/context']`
// +kubebuilder:printcolumn:name=Key,type=string,JSONPath=`.metadata.labels['data\.landscaper\.gardener\.cloud\/key']`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type DataObject struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Data is the value: any JSON but null.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Data AnyJSON `json:"data"`
}

// DataObjectList is a list of DataObjects.
//
// +kubebuilder:object:root=true
type DataObjectList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the DataObjects.
	Items []DataObject `json:"items"`
}
