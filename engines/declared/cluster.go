package declared

import (
	"fiord/engines"
	"fiord/job"
)

// cluster is: engines on distributed stores, and of other systems.
func cluster() []*engines.Driver {
	return []*engines.Driver{
		external("rados", "Uses objects of a Ceph cluster through librados.",
			"it needs librados, which a static Go binary cannot use",
			job.Traits{Diskless: true}, func() any { return &radosOptions{} }),
		external("rbd", "Uses block images of a Ceph cluster through librbd.",
			"it needs librbd, which a static Go binary cannot use",
			job.Traits{}, func() any { return &rbdOptions{} }),
		external("gfapi", "Uses GlusterFS through libgfapi, one request at a time.",
			"it needs libgfapi, which a static Go binary cannot use",
			job.Traits{Diskless: true, Sync: true}, func() any { return &gfapiOptions{} }),
		external("gfapi_async", "Uses GlusterFS through libgfapi, asynchronously.",
			"it needs libgfapi, which a static Go binary cannot use",
			job.Traits{Diskless: true}, func() any { return &gfapiOptions{} }),
		external("dfs", "Uses the DAOS file system through libdfs.",
			"it needs the DAOS client library, which a static Go binary cannot use",
			job.Traits{Diskless: true}, func() any { return &dfsOptions{} }),
		external("libhdfs", "Uses the Hadoop file system through libhdfs.",
			"it needs libhdfs and a Java machine, which a static Go binary cannot use",
			job.Traits{Diskless: true, Sync: true}, func() any { return &libhdfsOptions{} }),
		external("ime_aio", "Uses the DDN Infinite Memory Engine, asynchronously.",
			"it needs the IME client library, which a static Go binary cannot use",
			job.Traits{Diskless: true}, nil),
		external("ime_psync", "Uses the DDN Infinite Memory Engine, one request at a time.",
			"it needs the IME client library, which a static Go binary cannot use",
			job.Traits{Diskless: true, Sync: true}, nil),
		external("ime_psyncv", "Uses the DDN Infinite Memory Engine, gathering neighbouring requests.",
			"it needs the IME client library, which a static Go binary cannot use",
			job.Traits{Diskless: true, Sync: true}, nil),
		external("windowsaio", "Uses the asynchronous I/O of Windows.",
			"it needs Windows",
			job.Traits{}, func() any { return &windowsaioOptions{} }),
		external("solarisaio", "Uses the asynchronous I/O of Solaris.",
			"it needs Solaris",
			job.Traits{}, nil),
	}
}

// radosOptions are the options of rados.
type radosOptions struct {
	Clustername  string `fio:"clustername" help:"Name of the Ceph cluster"`
	Pool         string `fio:"pool" help:"Ceph pool in which objects are stored"`
	Clientname   string `fio:"clientname" help:"Ceph user name to connect as; needs the full type.id form if a cluster is named"`
	Conf         string `fio:"conf" def:"/etc/ceph/ceph.conf" help:"Path of the Ceph configuration file; default /etc/ceph/ceph.conf"`
	BusyPoll     bool   `fio:"busy_poll" def:"0" help:"Poll for completions rather than sleep, at a higher CPU cost; off by default"`
	TouchObjects bool   `fio:"touch_objects" def:"1" help:"Create all missing objects during setup; on by default"`
}

// rbdOptions are the options of rbd.
type rbdOptions struct {
	Clustername             string `fio:"clustername" help:"Name of the Ceph cluster"`
	Rbdname                 string `fio:"rbdname" help:"Name of the RBD image to test"`
	Pool                    string `fio:"pool" help:"Ceph pool that holds the RBD image"`
	Clientname              string `fio:"clientname" help:"Ceph user name to connect as; needs the full type.id form if a cluster is named"`
	BusyPoll                bool   `fio:"busy_poll" def:"0" help:"Poll for completions rather than sleep, at a higher CPU cost; off by default"`
	RbdEncryptionFormat     string `fio:"rbd_encryption_format" help:"Encryption format to load for the image, such as luks1 or luks2"`
	RbdEncryptionPassphrase string `fio:"rbd_encryption_passphrase" help:"Passphrase that unlocks the encrypted image"`
}

// gfapiOptions are the options of gfapi and gfapi_async.
type gfapiOptions struct {
	Volume         string `fio:"volume" help:"GlusterFS volume to use, by its name"`
	Brick          string `fio:"brick" help:"Host name or address of the GlusterFS server"`
	SingleInstance bool   `fio:"single-instance" help:"Share one GlusterFS connection between the threads of the run"`
}

// dfsOptions are the options of dfs.
type dfsOptions struct {
	Pool        string `fio:"pool" help:"DAOS pool, given by label or UUID"`
	Cont        string `fio:"cont" help:"DAOS container, given by label or UUID"`
	ChunkSize   uint64 `fio:"chunk_size" def:"0" help:"DFS chunk size in bytes; 0 uses the container default"`
	ObjectClass string `fio:"object_class" help:"DAOS object class for created files; defaults to that of the container"`
	Svcl        string `fio:"svcl" help:"DAOS pool service replica ranks, needed only by old releases"`
}

// libhdfsOptions are the options of libhdfs.
type libhdfsOptions struct {
	Namenode       string `fio:"namenode" def:"localhost" help:"Host name or address of the HDFS name node; default localhost"`
	Hostname       string `fio:"hostname" def:"localhost" help:"Host name or address of the HDFS name node; default localhost"`
	Port           int    `fio:"port" def:"9000" min:"1" max:"65535" help:"Port of the HDFS name node; default 9000"`
	HdfsDirectory  string `fio:"hdfsdirectory" def:"/" help:"HDFS directory in which chunk files are kept; default /"`
	ChunkSize      int    `fio:"chunk_size" alias:"chunck_size" def:"1048576" help:"Size in bytes of each HDFS chunk file; default 1048576"`
	SingleInstance bool   `fio:"single_instance" def:"1" help:"Share one HDFS connection between jobs; on by default"`
	HdfsUseDirect  bool   `fio:"hdfs_use_direct" def:"0" help:"Read with the direct HDFS call rather than the ordinary one; off by default"`
}

// windowsaioOptions are the options of windowsaio.
type windowsaioOptions struct {
	NoCompletionThread bool `fio:"no_completion_thread" flag:"1" help:"Collect completions without a separate thread"`
}
