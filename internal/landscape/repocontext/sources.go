// Package repocontext reads from a Context where the component versions of a namespace
// come from: repositories, credentials, overwrites, and whose signatures count.
package repocontext

import (
	"bytes"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/ocmconfig"
	"go.landscaper.dev/internal/content/component/signature"
	"go.landscaper.dev/internal/model/validation"
)

// ocmConfigKey is the key of an OCM configuration in its ConfigMap.
const ocmConfigKey = ".ocmconfig"

// Reader reads Contexts and what they refer to.
type Reader struct {
	// Client reads from the API server: what is read is needed once in a job.
	Client client.Reader
	// Base is what all namespaces have in common: how registries are reached, and
	// the default repository.
	Base component.Options
	// Foreign are the administrator's permissions to use Secrets of other
	// namespaces.
	Foreign validation.SourceNamespaces
	// Keys are what the deployment checks signatures with, by their names.
	Keys map[string]signature.Trust
	// OwnKeys lets only these keys count, and not those of Contexts: a user who may write a Context
	// could sign for himself.
	OwnKeys bool
}

// Sources are where the component versions of an Installation come from.
type Sources struct {
	Context *v1alpha1.Context
	Options component.Options
	// Overwritten means that the Context names overwrites.
	Overwritten bool
	// Warnings say what is passed over.
	Warnings []string

	reader *Reader
}

// Read reads what a Context of a namespace refers to.
func (r *Reader) Read(ctx context.Context, landscape *v1alpha1.Context) (*Sources, error) {
	s := &Sources{Context: landscape, Options: r.Base, reader: r}
	s.Options.Tenant = landscape.Namespace
	if own := component.Context(landscape.RepositoryContext); !own.IsZero() {
		s.Options.Default = own
	}
	for _, step := range []func(context.Context) error{s.readOCMConfig, s.readCredentials, s.readOverwrites} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("read what Context %s refers to: %w", landscape.Name, err)
		}
	}
	return s, nil
}

func (s *Sources) readCredentials(ctx context.Context) error {
	credentials := &credential.Store{}
	credentials.Add(s.Options.Registry.Credentials)
	for _, reference := range s.Context.RegistryPullSecrets {
		data, err := s.reader.secret(ctx, s.Context.Namespace, reference.Name)
		if err != nil {
			return fmt.Errorf("registryPullSecrets: %w", err)
		}
		warnings, err := credentials.AddSecret(reference.Name, data)
		if err != nil {
			return fmt.Errorf("registryPullSecrets: %w", err)
		}
		s.Warnings = append(s.Warnings, warnings...)
	}
	s.Options.Registry.Credentials = credentials
	return nil
}

func (s *Sources) readOCMConfig(ctx context.Context) error {
	if s.Context.OCMConfig == nil {
		return nil
	}
	name := s.Context.OCMConfig.Name
	configMap := &corev1.ConfigMap{}
	if err := s.reader.Client.Get(ctx, client.ObjectKey{Namespace: s.Context.Namespace, Name: name}, configMap); err != nil {
		return fmt.Errorf("ocmConfig: %w", unread(err, "ConfigMap", name))
	}
	text, ok := configMap.Data[ocmConfigKey]
	if !ok {
		return &NotFoundError{fmt.Sprintf("ocmConfig: ocm configuration config map %s does not contain key %q: put the configuration under this key", name, ocmConfigKey)}
	}
	config, err := ocmconfig.Parse([]byte(text))
	if err != nil {
		return fmt.Errorf("ocmConfig: invalid ocm config in %q in namespace %q: %w", name, s.Context.Namespace, err)
	}
	s.Options.Config = config
	s.Warnings = append(s.Warnings, config.Warnings...)
	return nil
}

func (s *Sources) readOverwrites(ctx context.Context) error {
	name := s.Context.ComponentVersionOverwritesReference
	if name == "" {
		return nil
	}
	overwrites := &v1alpha1.ComponentVersionOverwrites{}
	if err := s.reader.Client.Get(ctx, client.ObjectKey{Namespace: s.Context.Namespace, Name: name}, overwrites); err != nil {
		return fmt.Errorf("componentVersionOverwrites: %w", unread(err, "ComponentVersionOverwrites", name))
	}
	s.Overwritten = true
	s.Options.Overwrites = component.Overwrites(overwrites.Overwrites)
	return nil
}

// Trust returns what a signature is checked with: a key of the deployment, or where that is allowed
// a key of the Context, which then takes precedence.
func (s *Sources) Trust(ctx context.Context, name string) (signature.Trust, error) {
	own, isOwn := s.reader.Keys[name]
	references, ok := s.Context.VerificationSignatures[name]
	switch {
	case isOwn && (s.reader.OwnKeys || !ok):
		return own, nil
	case s.reader.OwnKeys:
		return own, &NotFoundError{fmt.Sprintf("this Landscaper has no key for signature name %q, and keys of Contexts do not count: ask the administrator for it (signatureVerification.keys), or use another signature", name)}
	case !ok:
		return own, &NotFoundError{fmt.Sprintf("Context %s: verificationSignatures does not contain a key for signature name %q: add it, with a public key or a certificate authority", s.Context.Name, name)}
	}
	return s.contextTrust(ctx, name, references)
}

// contextTrust reads the keys that a Context refers to.
func (s *Sources) contextTrust(ctx context.Context, name string, references v1alpha1.VerificationSignature) (signature.Trust, error) {
	var trust signature.Trust
	for _, part := range []struct {
		field     string
		reference *v1alpha1.SecretReference
		into      *[]byte
	}{
		{"publicKeySecretReference", references.PublicKeySecretReference, &trust.PublicKey},
		{"caCertificateSecretReference", references.CaCertificateSecretReference, &trust.Authorities},
	} {
		if part.reference == nil {
			continue
		}
		content, err := s.reader.secretKey(ctx, s.Context.Namespace, part.reference)
		if err != nil {
			return trust, fmt.Errorf("verificationSignatures.%s.%s of Context %s: %w", name, part.field, s.Context.Name, err)
		}
		*part.into = content
	}
	if trust.Usable() != nil {
		return trust, &NotFoundError{fmt.Sprintf("Context %s: verificationSignatures.%s has neither a publicKeySecretReference nor a caCertificateSecretReference: no key is trusted by default", s.Context.Name, name)}
	}
	return trust, nil
}

// TrustedBy says where the keys come from that Trust returns for a signature.
func (s *Sources) TrustedBy(name string) string {
	if _, own := s.reader.Keys[name]; own && s.reader.OwnKeys {
		return "signatureVerification.keys." + name + " of the server"
	}
	references, ok := s.Context.VerificationSignatures[name]
	if !ok {
		return "signatureVerification.keys." + name + " of the server"
	}
	from := "Context " + s.Context.Name
	for _, reference := range []*v1alpha1.SecretReference{references.PublicKeySecretReference, references.CaCertificateSecretReference} {
		if reference != nil {
			from += fmt.Sprintf(", Secret %s, key %s", reference.Name, reference.Key)
		}
	}
	return from
}

// Secret returns the content of a key of a Secret in the namespace of the Context.
func (s *Sources) Secret(ctx context.Context, name, key string) ([]byte, error) {
	reference := &v1alpha1.SecretReference{ObjectReference: v1alpha1.ObjectReference{Name: name}, Key: key}
	return s.reader.secretKey(ctx, s.Context.Namespace, reference)
}

func (r *Reader) secretKey(ctx context.Context, namespace string, reference *v1alpha1.SecretReference) ([]byte, error) {
	if !r.Foreign.Allows(reference.Namespace, namespace) {
		return nil, &NotFoundError{fmt.Sprintf("Secret %s is in namespace %s: put it into namespace %s of the Context, or ask the administrator to permit it (importNamespaces)", reference.Name, reference.Namespace, namespace)}
	}
	if reference.Namespace != "" {
		namespace = reference.Namespace
	}
	data, err := r.secret(ctx, namespace, reference.Name)
	if err != nil {
		return nil, err
	}
	content, ok := data[reference.Key]
	if !ok {
		return nil, &NotFoundError{fmt.Sprintf("Secret %s has no key %q: add it, or correct the reference", reference.Name, reference.Key)}
	}
	if len(bytes.TrimSpace(content)) == 0 {
		return nil, &NotFoundError{fmt.Sprintf("the key %q of Secret %s is empty", reference.Key, reference.Name)}
	}
	return content, nil
}

func (r *Reader) secret(ctx context.Context, namespace, name string) (map[string][]byte, error) {
	secret := &corev1.Secret{}
	if err := r.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret); err != nil {
		return nil, unread(err, "Secret", name)
	}
	return secret.Data, nil
}
