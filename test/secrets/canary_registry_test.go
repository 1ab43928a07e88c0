package secrets

import (
	"encoding/base64"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/scenario"
)

// canaryRegistries are Contexts with credentials that no registry accepts, and other
// settings that hold the canary.
func canaryRegistries() []canaryCase {
	where := func() string { return env.Lab.Registry.Address }
	nowhere := func() string { return "127.0.0.1:1" }
	login := base64.StdEncoding.EncodeToString([]byte("user:" + canary))
	settings := func(reason, says string, address func() string, change func(configuration *v1alpha1.ContextConfiguration, meta metav1.ObjectMeta, t *testing.T)) canaryCase {
		return canaryCase{reason: reason, says: says, prepare: func(t *testing.T, inst *v1alpha1.Installation) {
			meta := metav1.ObjectMeta{Namespace: inst.Namespace, Name: inst.Name}
			made := &v1alpha1.Context{ObjectMeta: meta}
			made.RepositoryContext = repositoryContext(t, address()+"/delivery")
			change(&made.ContextConfiguration, meta, t)
			createAll(t, made)
			inst.Spec.Context = inst.Name
			inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/a", Version: "1.0.0"}}
			inst.Spec.Blueprint = v1alpha1.BlueprintDefinition{Reference: &v1alpha1.RemoteBlueprintReference{ResourceName: "blueprint"}}
		}}
	}
	pull := func(reason, says string, address func() string, entry string) canaryCase {
		return settings(reason, says, address, func(configuration *v1alpha1.ContextConfiguration, meta metav1.ObjectMeta, t *testing.T) {
			content := fmt.Appendf(nil, `{"auths":{%q:%s}}`, address(), entry)
			createAll(t, &corev1.Secret{ObjectMeta: meta, Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: content}})
			configuration.RegistryPullSecrets = []v1alpha1.LocalPullSecret{{Name: meta.Name}}
		})
	}
	ocm := func(reason, says, content string) canaryCase {
		return settings(reason, says, where, func(configuration *v1alpha1.ContextConfiguration, meta metav1.ObjectMeta, t *testing.T) {
			createAll(t, &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{".ocmconfig": content}})
			configuration.OCMConfig = &v1alpha1.LocalObjectName{Name: meta.Name}
		})
	}
	base := func(reason, says, address string) canaryCase {
		return settings(reason, says, func() string { return address }, func(*v1alpha1.ContextConfiguration, metav1.ObjectMeta, *testing.T) {})
	}
	patient := func(c canaryCase) canaryCase {
		c.goesOn = true
		return c
	}
	return []canaryCase{
		pull("wrong login", "401", where, fmt.Sprintf(`{"auth":%q}`, login)),
		pull("wrong password of a registry", "401", where, fmt.Sprintf(`{"username":%q,"password":%q}`, canary, canary)),
		pull("wrong identity token", "", where, fmt.Sprintf(`{"identitytoken":%q}`, canary)),
		patient(pull("login at an address without a listener", "connection refused", nowhere, fmt.Sprintf(`{"auth":%q}`, login))),
		pull("login that is no base64", "", where, fmt.Sprintf(`{"auth":"%s!"}`, canary)),
		pull("login without a colon", "", where, fmt.Sprintf(`{"auth":%q}`, base64.StdEncoding.EncodeToString([]byte(canary)))),
		pull("login of a wrong type", "", where, fmt.Sprintf(`[%q]`, canary)),
		base("user in the address of a repository", "", "https://user:"+canary+"@127.0.0.1:1"),
		base("user in an invalid address", "", "https://user:"+canary+"@[127.0.0.1:1"),
		ocm("invalid OCM configuration", "", "this is {"+canary),
		ocm("OCM configuration of a wrong type", "", "type: [\""+canary+"\"]"),
		ocm("OCM credentials of a wrong type", "", "type: credentials.config.ocm.software\nconsumers: "+canary),
		ocm("OCM credentials that are refused", "", fmt.Sprintf("type: credentials.config.ocm.software\nconsumers:\n- identity: {type: OCIRegistry, hostname: 127.0.0.1}\n  credentials: [{type: Credentials, properties: {username: %s, password: %s}}]\n", canary, canary)),
		patient(settings("helm credentials", "connection refused", nowhere, func(configuration *v1alpha1.ContextConfiguration, _ metav1.ObjectMeta, _ *testing.T) {
			configuration.Configurations = map[string]v1alpha1.AnyJSON{"helmChartRepoCredentials": v1alpha1.NewAnyJSON(fmt.Appendf(nil, `{"auths":[{"url":"https://127.0.0.1:1","authHeader":"Basic %s"}]}`, login))}
		})),
		{reason: "invalid descriptor", template: "deployItems: []", prepare: func(t *testing.T, inst *v1alpha1.Installation) {
			scenario.SetInline(t, inst, fmt.Sprintf("meta: {schemaVersion: v2}\ncomponent: [%s]\n", canary))
		}},
	}
}
