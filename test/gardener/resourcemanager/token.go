package resourcemanager

import (
	"context"
	"os"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	labelPurpose = prefix + "purpose"
	purposeToken = "token-requestor"
	labelClass   = prefix + "class"
	classShoot   = "shoot"

	// audience is whom tokens are for: the API server of a shoot accepts it beside its own.
	audience = "gardener"

	accountPrefix      = "serviceaccount.resources.gardener.cloud/"
	annotationName     = accountPrefix + "name"
	annotationSpace    = accountPrefix + "namespace"
	annotationLifetime = accountPrefix + "token-expiration-duration"
	annotationRenew    = accountPrefix + "token-renew-timestamp"
	annotationBundle   = accountPrefix + "inject-ca-bundle"
)

// token gives a Secret the token that it requests, and another one in time.
func (m *Manager) token(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	secret := &corev1.Secret{}
	if err := m.seed.Get(ctx, request.NamespacedName, secret); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if due, err := time.Parse(time.RFC3339, secret.Annotations[annotationRenew]); err == nil && time.Until(due) > 0 && len(secret.Data["token"]) > 0 {
		return reconcile.Result{RequeueAfter: time.Until(due)}, nil
	}
	lifetime := 12 * time.Hour
	if text := secret.Annotations[annotationLifetime]; text != "" {
		var err error
		if lifetime, err = time.ParseDuration(text); err != nil {
			return reconcile.Result{}, reconcile.TerminalError(err)
		}
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: secret.Annotations[annotationSpace], Name: secret.Annotations[annotationName]}}
	if err := m.shoot.Create(ctx, account); client.IgnoreAlreadyExists(err) != nil {
		return reconcile.Result{}, err
	}
	seconds := int64(lifetime.Seconds())
	asked := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences: []string{audience}, ExpirationSeconds: &seconds,
	}}
	if err := m.shoot.SubResource("token").Create(ctx, account, asked); err != nil {
		return reconcile.Result{}, err
	}
	changed := secret.DeepCopy()
	if changed.Data == nil {
		changed.Data = map[string][]byte{}
	}
	changed.Data["token"] = []byte(asked.Status.Token)
	if secret.Annotations[annotationBundle] == "true" {
		authority, err := m.authority()
		if err != nil {
			return reconcile.Result{}, err
		}
		changed.Data["bundle.crt"] = authority
	}
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, annotationRenew, time.Now().Add(lifetime*8/10).UTC().Format(time.RFC3339))
	return reconcile.Result{RequeueAfter: lifetime * 8 / 10}, m.seed.Patch(ctx, changed, client.MergeFrom(secret))
}

// authority is that of the shoot's API server.
func (m *Manager) authority() ([]byte, error) {
	config, err := clientcmd.BuildConfigFromFlags("", m.options.Shoot)
	if err != nil {
		return nil, err
	}
	if len(config.CAData) > 0 {
		return config.CAData, nil
	}
	return os.ReadFile(config.CAFile)
}
