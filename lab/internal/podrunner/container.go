package podrunner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"go.landscaper.dev/lab/internal/container"
)

// Container is what runs in the files of an image.
type Container = container.Config

// awaitImage prepares a container, again until that succeeds: what the pod needs may come later, as
// with a kubelet.
func (r *Runner) awaitImage(ctx context.Context, pod *corev1.Pod, program Program, asked corev1.Container, prepared Prepared, report func(State)) (Run, error) {
	const pause = time.Second
	ports := map[int32]string{}
	for _, port := range asked.Ports {
		var err error
		if ports[port.ContainerPort], err = prepared.Port(); err != nil {
			return Run{}, err
		}
	}
	for {
		run, err := r.prepareImage(ctx, pod, program, asked, prepared, ports)
		if err == nil || ctx.Err() != nil {
			return run, err
		}
		r.Log.Info("pod waits", "pod", pod.Namespace+"/"+pod.Name, "error", err)
		report(State{Message: err.Error()})
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// prepareImage pulls the image of a pod and turns the pod into a command.
func (r *Runner) prepareImage(ctx context.Context, pod *corev1.Pod, program Program, asked corev1.Container, prepared Prepared, ports map[int32]string) (Run, error) {
	if err := errors.Join(unsupported(pod, asked)...); err != nil {
		return Run{}, err
	}
	root := filepath.Join(prepared.Directory, "root")
	config, err := pull(ctx, asked.Image, root)
	if err != nil {
		return Run{}, err // names the image
	}
	made := &Container{Root: root, ReadOnly: security(asked).ReadOnlyRootFilesystem != nil && *security(asked).ReadOnlyRootFilesystem}
	if err := setUser(made, pod, asked, config.User); err != nil {
		return Run{}, err
	}
	for _, volume := range pod.Spec.Volumes {
		if err := r.volume(ctx, pod, volume, filepath.Join(prepared.Directory, "volumes", volume.Name)); err != nil {
			return Run{}, err // names the volume
		}
	}
	for _, mount := range asked.VolumeMounts {
		made.Mounts = append(made.Mounts, container.Mount{
			From: filepath.Join(prepared.Directory, "volumes", mount.Name), To: mount.MountPath, ReadOnly: mount.ReadOnly,
		})
	}
	env, err := r.containerEnvironment(ctx, pod, asked, config, prepared.API)
	if err != nil {
		return Run{}, err
	}
	made.Directory = cmp.Or(asked.WorkingDir, config.WorkingDir, "/")
	made.Command = command(asked, config, env, ports)
	made.Env = pairs(env)
	run := Run{Program: program, Container: made, Once: pod.Spec.RestartPolicy == corev1.RestartPolicyNever}
	run.Live, err = probe(asked, asked.LivenessProbe, ports)
	if err != nil {
		return Run{}, err
	}
	run.Ready, err = probe(asked, asked.ReadinessProbe, ports)
	return run, err
}

// unsupported lists what a pod asks for and does not get here.
func unsupported(pod *corev1.Pod, asked corev1.Container) []error {
	var found []error
	for what, is := range map[string]bool{
		"init containers":                      len(pod.Spec.InitContainers) > 0,
		"several containers":                   len(pod.Spec.Containers) > 1,
		"the restart policy OnFailure":         pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure,
		"the network of the host":              pod.Spec.HostNetwork,
		"envFrom":                              len(asked.EnvFrom) > 0,
		"lifecycle hooks":                      asked.Lifecycle != nil,
		"startup probes":                       asked.StartupProbe != nil,
		"privileged containers":                security(asked).Privileged != nil && *security(asked).Privileged,
		"containers with further capabilities": security(asked).Capabilities != nil && len(security(asked).Capabilities.Add) > 0,
	} {
		if is {
			found = append(found, fmt.Errorf("container %s: the lab does not know %s", asked.Name, what))
		}
	}
	for _, mount := range asked.VolumeMounts {
		if mount.SubPath != "" || mount.SubPathExpr != "" {
			found = append(found, fmt.Errorf("container %s: the lab does not know subPath, which mount %s has", asked.Name, mount.Name))
		}
	}
	return found
}

func security(asked corev1.Container) corev1.SecurityContext {
	if asked.SecurityContext == nil {
		return corev1.SecurityContext{}
	}
	return *asked.SecurityContext
}

// setUser decides who the container runs as: the container says it, or the pod, or the image.
func setUser(made *Container, pod *corev1.Pod, asked corev1.Container, ofImage string) error {
	ofPod := corev1.PodSecurityContext{}
	if pod.Spec.SecurityContext != nil {
		ofPod = *pod.Spec.SecurityContext
	}
	own := security(asked)
	user, group, _ := strings.Cut(cmp.Or(ofImage, "0"), ":")
	uid, err := strconv.ParseInt(user, 10, 32)
	if err != nil {
		return fmt.Errorf("the image has the user %q: the lab knows numbers only", ofImage)
	}
	gid, _ := strconv.ParseInt(group, 10, 32) // none is 0, as with other runtimes
	uid = *cmp.Or(own.RunAsUser, ofPod.RunAsUser, &uid)
	gid = *cmp.Or(own.RunAsGroup, ofPod.RunAsGroup, &gid)
	if never := cmp.Or(own.RunAsNonRoot, ofPod.RunAsNonRoot); never != nil && *never && uid == 0 {
		return fmt.Errorf("container %s has runAsNonRoot, and image %s would run as root", asked.Name, asked.Image)
	}
	made.UID, made.GID = int(uid), int(gid)
	return nil
}

// containerEnvironment is the environment of the image, of the cluster, and of the container.
func (r *Runner) containerEnvironment(ctx context.Context, pod *corev1.Pod, asked corev1.Container, config v1.Config, api string) (map[string]string, error) {
	host, port, err := net.SplitHostPort(api)
	if err != nil {
		return nil, fmt.Errorf("the address of the API server: %w", err)
	}
	env := map[string]string{"HOSTNAME": pod.Name, "KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
	for _, variable := range config.Env {
		name, value, _ := strings.Cut(variable, "=")
		env[name] = value
	}
	for _, variable := range asked.Env {
		value := expand(variable.Value, env)
		if source := variable.ValueFrom; source != nil {
			if value, err = r.value(ctx, pod, source); err != nil {
				return nil, fmt.Errorf("variable %s: %w", variable.Name, err)
			}
		}
		env[variable.Name] = value
	}
	return env, nil
}

func (r *Runner) value(ctx context.Context, pod *corev1.Pod, source *corev1.EnvVarSource) (string, error) {
	files := map[string][]byte{}
	switch {
	case source.FieldRef != nil:
		value, known := fields(pod)[source.FieldRef.FieldPath]
		if !known {
			return "", fmt.Errorf("the lab does not know the field %s of pods", source.FieldRef.FieldPath)
		}
		return value, nil
	case source.SecretKeyRef != nil:
		ref := source.SecretKeyRef
		err := r.secret(ctx, pod, files, ref.Name, []corev1.KeyToPath{{Key: ref.Key, Path: "value"}}, ref.Optional)
		return string(files["value"]), err
	case source.ConfigMapKeyRef != nil:
		ref := source.ConfigMapKeyRef
		err := r.configMap(ctx, pod, files, ref.Name, []corev1.KeyToPath{{Key: ref.Key, Path: "value"}}, ref.Optional)
		return string(files["value"]), err
	}
	return "", errors.New("the lab knows values from fields, Secrets and ConfigMaps")
}

// fields are what a pod may know about itself.
func fields(pod *corev1.Pod) map[string]string {
	return map[string]string{
		"metadata.namespace": pod.Namespace, "metadata.name": pod.Name, "metadata.uid": string(pod.UID),
		"spec.nodeName": pod.Spec.NodeName, "spec.serviceAccountName": pod.Spec.ServiceAccountName,
		"status.podIP": "127.0.0.1", "status.hostIP": "127.0.0.1",
	}
}

// command is what runs: the command of the container replaces the entry point of the image. All
// pods share the ports of one machine: an argument that ends with a port of the container gets
// the address that was set aside for it.
func command(asked corev1.Container, config v1.Config, env map[string]string, ports map[int32]string) []string {
	entry, args := config.Entrypoint, config.Cmd
	if len(asked.Command) > 0 {
		entry, args = asked.Command, nil
	}
	if len(asked.Args) > 0 {
		args = asked.Args
	}
	var all []string
	for _, argument := range append(append([]string{}, entry...), args...) {
		argument = expand(argument, env)
		for port, address := range ports {
			if before, is := strings.CutSuffix(argument, fmt.Sprintf(":%d", port)); is && (before == "" || strings.HasSuffix(before, "=")) {
				argument = before + address
				break
			}
		}
		all = append(all, argument)
	}
	return all
}

// Probe asks a container over HTTP whether it is in order.
type Probe struct {
	URL string
	// Delay is the time before the first question, Period that between two, Timeout how long
	// an answer may take, and Failures how many bad answers in a row count.
	Delay, Period, Timeout time.Duration
	Failures               int
}

func probe(asked corev1.Container, wanted *corev1.Probe, ports map[int32]string) (*Probe, error) {
	if wanted == nil {
		return nil, nil
	}
	if wanted.HTTPGet == nil || wanted.HTTPGet.Scheme == corev1.URISchemeHTTPS || len(wanted.HTTPGet.HTTPHeaders) > 0 {
		return nil, fmt.Errorf("container %s: the lab knows probes with httpGet, without TLS and headers", asked.Name)
	}
	number := wanted.HTTPGet.Port.IntVal
	if wanted.HTTPGet.Port.Type == intstr.String {
		for _, port := range asked.Ports {
			if port.Name == wanted.HTTPGet.Port.StrVal {
				number = port.ContainerPort
			}
		}
	}
	address, known := ports[number]
	if !known {
		return nil, fmt.Errorf("container %s: a probe asks port %s, which is not a port of the container", asked.Name, wanted.HTTPGet.Port.String())
	}
	return &Probe{
		URL: "http://" + address + wanted.HTTPGet.Path, Delay: seconds(wanted.InitialDelaySeconds, 0),
		Period: seconds(wanted.PeriodSeconds, 10), Timeout: seconds(wanted.TimeoutSeconds, 1), Failures: int(cmp.Or(wanted.FailureThreshold, 3)),
	}, nil
}

func seconds(value, otherwise int32) time.Duration {
	return time.Duration(cmp.Or(value, otherwise)) * time.Second
}

// Ask returns nil if the container is in order.
func (p *Probe) Ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s: %s", p.URL, response.Status)
	}
	return nil
}
