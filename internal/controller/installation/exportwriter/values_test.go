package exportwriter

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/importreader"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// asIs returns the error as it is.
func asIs(_ client.Object, _ reasons.Reason, err error) error { return err }

// TestStoreValues: which owner may have the name of a Secret with a value.
func TestStoreValues(t *testing.T) {
	mine := testbuilders.Owner("Installation", "shop", "2")
	of := func(kind corev1.SecretType, owners ...metav1.OwnerReference) *corev1.Secret {
		_, secret := testbuilders.Concealed("password", `"old"`, owners...)
		secret.Type = kind
		return secret
	}
	for _, test := range []struct {
		reason string
		live   *corev1.Secret
		want   string
	}{
		{"the first job", nil, ""},
		{"a later job", of(valueobject.ValueSecretType, mine), ""},
		{"the name belongs to an earlier Installation of the name", of(valueobject.ValueSecretType, testbuilders.Owner("Installation", "shop", "1")), ""},
		{"the name belongs to another Installation", of(valueobject.ValueSecretType, testbuilders.Owner("Installation", "other", "3")), "Secret password does not belong to this Installation"},
		{"the name belongs to a user", of(valueobject.ValueSecretType), "Secret password does not belong to this Installation"},
		{"a Secret of ours for something else", of(corev1.SecretTypeOpaque, mine), "Secret password does not belong to this Installation"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := fakeapi.New(t)
			if test.live != nil {
				c = fakeapi.New(t, test.live)
			}
			w := (Writer{Client: c, Reader: c})
			object, secret := testbuilders.Concealed("password", `"new"`, mine)
			_, err := w.WriteCopies(t.Context(), siblings.Family{Inst: testbuilders.InstallationOf(t, "{}")}, dataflow.Exports{DataObjects: []*v1alpha1.DataObject{object}, Secrets: []*corev1.Secret{secret}}, true, asIs)
			live := &corev1.Secret{}
			if getErr := c.Get(t.Context(), client.ObjectKeyFromObject(secret), live); getErr != nil {
				t.Fatal(getErr)
			}
			if test.want != "" {
				dataErr := c.Get(t.Context(), client.ObjectKeyFromObject(object), &v1alpha1.DataObject{})
				if job.OutcomeOf(err) != job.Terminal || !strings.Contains(err.Error(), test.want) || string(live.Data["value"]) != `"old"` || !apierrors.IsNotFound(dataErr) {
					t.Errorf("%s: %v, %s, DataObject: %v", test.reason, err, live.Data["value"], dataErr)
				}
				return
			}
			if err != nil || string(live.Data["value"]) != `"new"` || live.OwnerReferences[0].UID != mine.UID {
				t.Errorf("%s: %v, %s", test.reason, err, live.Data["value"])
			}
			read, err := importreader.From(c).Data(t.Context(), dataflow.Object{Kind: dataflow.KindDataObject, Namespace: "team-a", Name: "password"})
			if err != nil || string(read.Value.RawMessage) != `"new"` || read.Salt == "" {
				t.Errorf("%s: a child reads %s, %v", test.reason, read.Value.RawMessage, err)
			}
		})
	}
}

// TestNoLongerFromSecrets: a value that does not come from a Secret any more, or that is
// not imported any more, leaves no Secret.
func TestNoLongerFromSecrets(t *testing.T) {
	mine := testbuilders.Owner("Installation", "shop", "2")
	for reason, test := range map[string]struct {
		secret func(*corev1.Secret)
		act    func(Writer) error
		stays  bool
	}{
		"now it comes from somewhere else": {nil, func(w Writer) error {
			object, _ := testbuilders.Concealed("password", "", mine)
			object.Annotations = nil
			_, err := w.WriteCopies(t.Context(), siblings.Family{Inst: testbuilders.InstallationOf(t, "{}")}, dataflow.Exports{DataObjects: []*v1alpha1.DataObject{object}}, true, asIs)
			return err
		}, false},
		"the value still comes from a Secret": {nil, func(w Writer) error {
			object, secret := testbuilders.Concealed("password", `"new"`, mine)
			_, err := w.WriteCopies(t.Context(), siblings.Family{Inst: testbuilders.InstallationOf(t, "{}")}, dataflow.Exports{DataObjects: []*v1alpha1.DataObject{object}, Secrets: []*corev1.Secret{secret}}, true, asIs)
			return err
		}, true},
		"the value is not imported any more": {nil, func(w Writer) error { return w.DeleteStaleCopies(t.Context(), testbuilders.InstallationOf(t, "{}")) }, false},
		"the Secret belongs to another owner": {func(s *corev1.Secret) { s.OwnerReferences = nil }, func(w Writer) error {
			return w.DeleteStaleCopies(t.Context(), testbuilders.InstallationOf(t, "{}"))
		}, true},
		"the Secret holds something else": {func(s *corev1.Secret) { s.Type = corev1.SecretTypeOpaque }, func(w Writer) error {
			return w.DeleteStaleCopies(t.Context(), testbuilders.InstallationOf(t, "{}"))
		}, true},
	} {
		t.Run(reason, func(t *testing.T) {
			object, secret := testbuilders.Concealed("password", `"old"`, mine)
			secret.UID = "uid-of-secret"
			if test.secret != nil {
				test.secret(secret)
			}
			c := fakeapi.New(t, object, secret)
			if err := test.act((Writer{Client: c, Reader: c})); err != nil {
				t.Errorf("%s: %v", reason, err)
			}
			err := c.Get(t.Context(), client.ObjectKeyFromObject(secret), &corev1.Secret{})
			if (err == nil) != test.stays {
				t.Errorf("%s: Secret: %v", reason, err)
			}
			live := &v1alpha1.DataObject{}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), live); err == nil && (valueobject.SecretOf(live) != "") != test.stays {
				t.Errorf("%s: the DataObject refers to %q", reason, valueobject.SecretOf(live))
			}
		})
	}
}
