package server

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func planKeyOf(data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "landscaper", Name: PlanKeySecret}, Data: data}
}

func TestPlanKey(t *testing.T) {
	known := bytes.Repeat([]byte{7}, keySize)
	broken := errors.New("forbidden")
	tests := []struct {
		reason    string
		namespace string
		exists    *corev1.Secret
		refused   error
		fails     string
	}{
		{"the first start makes a key", "landscaper", nil, nil, ""},
		{"a later start, and each replica, reads it", "landscaper", planKeyOf(map[string][]byte{keyField: known}), nil, ""},
		{"a developer's machine has no namespace", "", nil, nil, ""},
		{"a Secret without a key does not count as one", "landscaper", planKeyOf(nil), nil, "has no key of 32 bytes"},
		{"without the right to create it, plans would not be authenticated", "landscaper", nil, broken, "forbidden"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			builder := fake.NewClientBuilder().WithScheme(Scheme())
			if test.exists != nil {
				builder.WithObjects(test.exists)
			}
			cluster := interceptor.NewClient(builder.Build(), interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
				if test.refused != nil {
					return test.refused
				}
				return c.Create(ctx, object, options...)
			}})
			key, err := planKey(t.Context(), cluster, cluster, test.namespace)
			if (err == nil) != (test.fails == "") || err != nil && !strings.Contains(err.Error(), test.fails) {
				t.Fatalf("error %v, want %q", err, test.fails)
			}
			if test.fails != "" || test.namespace == "" {
				return
			}
			again, err := planKey(t.Context(), cluster, cluster, test.namespace)
			if err != nil || len(key) != keySize || !bytes.Equal(key, again) || test.exists != nil && !bytes.Equal(key, known) {
				t.Errorf("%d bytes, then %d, %v", len(key), len(again), err)
			}
		})
	}
}

// TestPlanKeyOfTwoReplicas: the one that comes later takes the key of the other one.
func TestPlanKeyOfTwoReplicas(t *testing.T) {
	other := bytes.Repeat([]byte{9}, keySize)
	cluster := interceptor.NewClient(fake.NewClientBuilder().WithScheme(Scheme()).Build(), interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
		if err := c.Create(ctx, planKeyOf(map[string][]byte{keyField: other})); err != nil {
			return err
		}
		return c.Create(ctx, object, options...)
	}})
	key, err := planKey(t.Context(), cluster, cluster, "landscaper")
	if err != nil || !bytes.Equal(key, other) {
		t.Errorf("got %d bytes, %v", len(key), err)
	}
}
