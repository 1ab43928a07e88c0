package podrunner

import (
	"archive/tar"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestImagesOfTheRegistry(t *testing.T) {
	for _, row := range []struct {
		registry, image string
		want            bool
		reason          string
	}{
		{"127.0.0.1:5000", "127.0.0.1:5000/landscaper@sha256:00", true, "it is in the registry"},
		{"127.0.0.1:5000", "127.0.0.1:50001/landscaper", false, "another port that begins alike"},
		{"127.0.0.1:5000", "example.com/landscaper", false, "another registry"},
		{"", "/landscaper", false, "the lab has no registry"},
	} {
		images := Images{Registry: func() string { return row.registry }}
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: row.image}}}}
		if _, _, got := images.programOf(pod); got != row.want {
			t.Errorf("%s: %t: %s", row.image, got, row.reason)
		}
	}
}

func TestUnpack(t *testing.T) {
	for _, row := range []struct {
		reason  string
		headers []tar.Header
		refused bool
		mode    fs.FileMode
	}{
		{reason: "a file without its folder", headers: []tar.Header{{Name: "usr/bin/file", Typeflag: tar.TypeReg, Mode: 0o755, Size: 1}}, mode: 0o755},
		{reason: "a link within", headers: []tar.Header{
			{Name: "usr/bin", Typeflag: tar.TypeDir, Mode: 0o755}, {Name: "bin", Typeflag: tar.TypeSymlink, Linkname: "usr/bin"}, {Name: "bin/file", Typeflag: tar.TypeReg, Mode: 0o644, Size: 1},
		}, mode: 0o644},
		{reason: "dots stay within", headers: []tar.Header{{Name: "../../usr/bin/file", Typeflag: tar.TypeReg, Mode: 0o600, Size: 1}}, mode: 0o600},
		{reason: "a link leads outside", refused: true, headers: []tar.Header{
			{Name: "usr", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, {Name: "usr/file", Typeflag: tar.TypeReg, Mode: 0o644, Size: 1},
		}},
		{reason: "a device", refused: true, headers: []tar.Header{{Name: "dev/sda", Typeflag: tar.TypeBlock}}},
	} {
		var archive bytes.Buffer
		writer := tar.NewWriter(&archive)
		for _, header := range row.headers {
			err := writer.WriteHeader(&header)
			if err == nil {
				_, err = writer.Write(make([]byte, header.Size))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
		directory := filepath.Join(t.TempDir(), "root")
		err := unpack(&archive, directory)
		if (err != nil) != row.refused {
			t.Errorf("%s: %v", row.reason, err)
		}
		if row.refused {
			continue
		}
		if info, err := os.Stat(filepath.Join(directory, "usr/bin/file")); err != nil || info.Mode() != row.mode {
			t.Errorf("%s: %v, %v", row.reason, info, err)
		}
	}
}

func TestCommandOfAContainer(t *testing.T) {
	image := v1.Config{Entrypoint: []string{"/landscaper"}, Cmd: []string{"help"}}
	env := map[string]string{"WHERE": "there"}
	ports := map[int32]string{8081: "127.0.0.1:5"}
	for _, row := range []struct {
		asked  corev1.Container
		want   []string
		reason string
	}{
		{corev1.Container{}, []string{"/landscaper", "help"}, "the image decides"},
		{corev1.Container{Args: []string{"run"}}, []string{"/landscaper", "run"}, "arguments replace those of the image"},
		{corev1.Container{Command: []string{"/other"}}, []string{"/other"}, "a command replaces both"},
		{corev1.Container{Args: []string{"--to=$(WHERE)"}}, []string{"/landscaper", "--to=there"}, "variables are expanded"},
		{corev1.Container{Args: []string{"--health-address=:8081"}}, []string{"/landscaper", "--health-address=127.0.0.1:5"}, "a port of the container is set aside"},
		{corev1.Container{Args: []string{"--server=http://server:8081"}}, []string{"/landscaper", "--server=http://server:8081"}, "the port of another host is not ours"},
	} {
		if got := command(row.asked, image, env, ports); !slices.Equal(got, row.want) {
			t.Errorf("%s: %q", row.reason, got)
		}
	}
}

func TestUserOfAContainer(t *testing.T) {
	two, three, yes := int64(2), int64(3), true
	for _, row := range []struct {
		reason, image string
		pod           corev1.PodSecurityContext
		container     *corev1.SecurityContext
		uid, gid      int
		refused       bool
	}{
		{reason: "the image decides", image: "65532:65533", uid: 65532, gid: 65533},
		{reason: "an image without a user is root"},
		{reason: "the pod has precedence over the image", image: "1:1", pod: corev1.PodSecurityContext{RunAsUser: &two, RunAsGroup: &three}, uid: 2, gid: 3},
		{reason: "the container has precedence over the pod", pod: corev1.PodSecurityContext{RunAsUser: &two}, container: &corev1.SecurityContext{RunAsUser: &three}, uid: 3},
		{reason: "root is not wanted", pod: corev1.PodSecurityContext{RunAsNonRoot: &yes}, refused: true},
		{reason: "names are not known", image: "nonroot", refused: true},
	} {
		var made Container
		pod := &corev1.Pod{Spec: corev1.PodSpec{SecurityContext: &row.pod}}
		err := setUser(&made, pod, corev1.Container{SecurityContext: row.container}, row.image)
		if (err != nil) != row.refused || err == nil && (made.UID != row.uid || made.GID != row.gid) {
			t.Errorf("%s: %d:%d, %v", row.reason, made.UID, made.GID, err)
		}
	}
}

func TestProbeOfAContainer(t *testing.T) {
	asked := corev1.Container{Ports: []corev1.ContainerPort{{Name: "health", ContainerPort: 8081}}}
	ports := map[int32]string{8081: "127.0.0.1:5"}
	get := func(port intstr.IntOrString) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: port}}, PeriodSeconds: 20}
	}
	for _, port := range []intstr.IntOrString{intstr.FromString("health"), intstr.FromInt32(8081)} {
		got, err := probe(asked, get(port), ports)
		if err != nil || *got != (Probe{URL: "http://127.0.0.1:5/readyz", Period: 20 * time.Second, Timeout: time.Second, Failures: 3}) {
			t.Errorf("port %s: %+v, %v", port.String(), got, err)
		}
	}
	for reason, wrong := range map[string]*corev1.Probe{
		"which is not a port": get(intstr.FromString("metrics")),
		"httpGet":             {ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{}}},
	} {
		if _, err := probe(asked, wrong, ports); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v does not say %q", err, reason)
		}
	}
}

// TestUnsupported: a pod that asks for what it would not get does not run.
func TestUnsupported(t *testing.T) {
	yes := true
	for want, pod := range map[string]corev1.PodSpec{
		"init containers": {InitContainers: []corev1.Container{{}}},
		"several":         {Containers: []corev1.Container{{}, {}}},
		"OnFailure":       {RestartPolicy: corev1.RestartPolicyOnFailure},
		"envFrom":         {Containers: []corev1.Container{{EnvFrom: []corev1.EnvFromSource{{}}}}},
		"subPath":         {Containers: []corev1.Container{{VolumeMounts: []corev1.VolumeMount{{SubPath: "a"}}}}},
		"privileged":      {Containers: []corev1.Container{{SecurityContext: &corev1.SecurityContext{Privileged: &yes}}}},
	} {
		asked := corev1.Container{}
		if len(pod.Containers) > 0 {
			asked = pod.Containers[0]
		}
		if err := errors.Join(unsupported(&corev1.Pod{Spec: pod}, asked)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if found := unsupported(&corev1.Pod{}, corev1.Container{}); len(found) > 0 {
		t.Errorf("a plain pod is refused: %v", found)
	}
}
