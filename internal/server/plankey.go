package server

import (
	"context"
	"crypto/rand"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/landscape/plan/parcel"
)

// PlanKeySecret is the Secret in the namespace of the server with the key that authenticates stored
// plans. All replicas have the same.
const PlanKeySecret = "landscaper-plan-key"

const (
	keyField = "key"
	keySize  = 32
)

// planKey reads the key of stored plans, and makes it at the first start. Without a namespace of the
// server, as on the machine of a developer, there is no place that tenants cannot write to.
func planKey(ctx context.Context, reader client.Reader, writer client.Writer, namespace string) (parcel.Key, error) {
	if namespace == "" {
		return nil, nil
	}
	return secretKey(ctx, reader, writer, namespace, PlanKeySecret, "stored plans")
}

// secretKey reads a key of the server from a Secret in its namespace, and makes it at the first start.
func secretKey(ctx context.Context, reader client.Reader, writer client.Writer, namespace, name, of string) ([]byte, error) {
	secret := &corev1.Secret{}
	at := client.ObjectKey{Namespace: namespace, Name: name}
	err := reader.Get(ctx, at, secret)
	if apierrors.IsNotFound(err) {
		key := make([]byte, keySize)
		_, _ = rand.Read(key) // it never fails
		secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{keyField: key}}
		if err = writer.Create(ctx, secret); apierrors.IsAlreadyExists(err) {
			// Another replica was faster.
			err = reader.Get(ctx, at, secret)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read or create Secret %s with the key of %s: %w", at, of, err)
	}
	key := secret.Data[keyField]
	if len(key) < keySize {
		return nil, fmt.Errorf("Secret %s has no key of %d bytes in %q: delete it, and a new one is made", at, keySize, keyField) //nolint:staticcheck // the name of a kind
	}
	return key, nil
}
