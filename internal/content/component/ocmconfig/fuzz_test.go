package ocmconfig

import (
	"strings"
	"testing"
)

// FuzzParse reads OCM configurations. Warnings and errors do not repeat what they say.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"type: generic.config.ocm.software/v1\nconfigurations: [{type: ocm.config.ocm.software, aliases: {a: {type: OCIRegistry, baseUrl: r}}, resolvers: [{repository: a, prefix: b, priority: 7}]}]",
		"type: credentials.config.ocm.software\nconsumers: [{identity: {hostname: h}, credentials: [{type: Credentials, properties: {password: hunter2hunter2hunter2hunter2}}]}]",
		"type: hunter2hunter2hunter2hunter2", "type: generic.config.ocm.software\nconfigurations: [{type: hunter2hunter2hunter2hunter2}]",
		"configurations: &a [*a]", "[]", `{"type":7}`, "",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := Parse(data)
		said := ""
		if err != nil {
			said = err.Error()
		} else {
			said = strings.Join(config.Warnings, "\n")
		}
		if strings.Contains(said, "hunter2hunter2") {
			t.Error(said)
		}
	})
}
